//! Messages with a key each.
//!
//! A cipher that has keys per lane gives each lane a message ([`in_lanes`]): in a [`pipeline`] ([`in_pipeline`] says which),
//! others [`together`] with those of as many blocks, for which they [wait](company). What is too long for company runs
//! alone, with a key that was expanded in a lane where enough such messages follow one another. Ciphers that run in groups
//! take teams ([`in_teams`]), and run [one by one](one_by_one) what is too little for a team, or has a nonce that is hashed.

mod company;
mod in_lanes;
mod in_pipeline;
mod in_teams;
mod lane_hash;
mod one_by_one;
mod pipeline;
mod schedules;
mod set;
mod together;

pub(crate) use self::in_lanes::InLanes;
pub(crate) use self::in_teams::InTeams;
