//! Who may come in.
//!
//! The server listens on 127.0.0.1, which every program and every web page on this machine can reach. So each request
//! needs the token that is in the printed address. It must also name this server by its own name, so that a page whose
//! name was made to point here (DNS rebinding) gets nothing, and must not come from a page of another origin (RFC 6454).

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use subtle::ConstantTimeEq;

use super::Shared;
use super::visitors::Pass;

/// Random bytes of the token: nobody guesses 128 bits.
const TOKEN_BYTES: usize = 16;

/// Sent with every answer: nothing is loaded but from here, nothing is framed, nothing is kept, and the address with its
/// token is not told to others. The report's page, which has its style inside, says more about itself.
const HEADERS: [(HeaderName, &str); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// The open address.
pub(crate) struct Door {
    listener: TcpListener,
    guard: Guard,
}

/// What a request must bring.
pub(crate) struct Guard {
    token: String,
    /// By which names this server goes; the first is that of its address.
    names: Vec<String>,
}

impl Door {
    /// Listens on the loopback interface; port 0 takes a free one.
    ///
    /// # Errors
    /// If the port is taken, or the system has no random numbers.
    pub(crate) fn open(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let mut random = [0; TOKEN_BYTES];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let token = random.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { listener, guard: Guard { token, names: names(port) } })
    }

    /// The page's address.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/?token={}", self.guard.names[0], self.guard.token)
    }

    pub(super) fn into_parts(self) -> (TcpListener, Guard) {
        (self.listener, self.guard)
    }
}

/// The names of a server on `port`: with the port, which browsers leave out where it is HTTP's own (RFC 9110 section
/// 4.2.1).
fn names(port: u16) -> Vec<String> {
    const HTTP: u16 = 80;
    let own = ["127.0.0.1", "localhost"];
    let bare = own.iter().filter(|_| port == HTTP).map(|name| (*name).to_owned());
    own.iter().map(|name| format!("{name}:{port}")).chain(bare).collect()
}

impl Guard {
    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// Why the request is refused, if it is.
    fn refuses(&self, uri: &Uri, headers: &HeaderMap) -> Option<&'static str> {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        if !host.is_some_and(|host| self.names.iter().any(|name| name.eq_ignore_ascii_case(host))) {
            return Some("this server goes by the name in its address alone");
        }
        if headers.get_all(header::ORIGIN).iter().any(|origin| !self.is_own(origin)) {
            return Some("pages of other origins get nothing here");
        }
        let token =
            uri.query().and_then(|query| query.split('&').find_map(|part| part.strip_prefix("token=")));
        // Compared in constant time, so that the time of a refusal says nothing of the token.
        if !token.is_some_and(|token| token.as_bytes().ct_eq(self.token.as_bytes()).into()) {
            return Some("the token is missing or wrong; open the whole address that the terminal shows");
        }
        None
    }

    fn is_own(&self, origin: &HeaderValue) -> bool {
        let name = origin.to_str().ok().and_then(|origin| origin.strip_prefix("http://"));
        name.is_some_and(|name| self.names.iter().any(|own| own.eq_ignore_ascii_case(name)))
    }
}

/// Refuses whom the guard refuses, and sends the headers of safety with every answer.
pub(super) async fn guard(
    State(shared): State<Shared>,
    ConnectInfo(pass): ConnectInfo<Pass>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match shared.guard.refuses(request.uri(), request.headers()) {
        Some(reason) => (StatusCode::FORBIDDEN, format!("refused: {reason}\n")).into_response(),
        None => {
            pass.let_in();
            next.run(request).await
        }
    };
    for (name, value) in HEADERS {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "00112233445566778899aabbccddeeff";

    fn refused_on(port: u16, uri: &str, headers: &[(HeaderName, &str)]) -> bool {
        let guard = Guard { token: TOKEN.to_owned(), names: names(port) };
        let headers: HeaderMap =
            headers.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect();
        guard.refuses(&uri.parse().unwrap(), &headers).is_some()
    }

    fn refused(uri: &str, headers: &[(HeaderName, &str)]) -> bool {
        refused_on(4000, uri, headers)
    }

    /// Browsers leave the port of HTTP out of what they send.
    #[test]
    fn the_port_of_http_need_not_be_named() {
        let uri = format!("/?token={TOKEN}");
        for name in ["127.0.0.1", "localhost", "localhost:80"] {
            let origin = format!("http://{name}");
            assert!(!refused_on(80, &uri, &[(header::HOST, name), (header::ORIGIN, &origin)]), "{name}");
        }
        assert!(refused_on(80, &uri, &[(header::HOST, "localhost:4000")]));
    }

    #[test]
    fn the_token_must_be_right_and_whole() {
        let host = [(header::HOST, "127.0.0.1:4000")];
        assert!(!refused(&format!("/?token={TOKEN}"), &host));
        assert!(!refused(&format!("/?a=b&token={TOKEN}"), &host));
        for query in
            ["", "?", "?token=", "?token=00", &format!("?token={TOKEN}0"), &format!("?xtoken={TOKEN}")]
        {
            assert!(refused(&format!("/{query}"), &host), "{query}");
        }
    }

    #[test]
    fn only_its_own_names_and_origins_come_in() {
        let uri = format!("/?token={TOKEN}");
        for host in ["localhost:4000", "LOCALHOST:4000"] {
            assert!(!refused(&uri, &[(header::HOST, host)]), "{host}");
        }
        for host in ["127.0.0.1", "127.0.0.1:4001", "evil.example:4000", "127.0.0.1:4000.evil.example"] {
            assert!(refused(&uri, &[(header::HOST, host)]), "{host}");
        }
        assert!(refused(&uri, &[]), "no host at all");
        let from = |origin| refused(&uri, &[(header::HOST, "localhost:4000"), (header::ORIGIN, origin)]);
        assert!(!from("http://localhost:4000") && !from("http://127.0.0.1:4000"));
        for origin in ["null", "https://localhost:4000", "http://localhost:4001", "http://evil.example"] {
            assert!(from(origin), "{origin}");
        }
    }
}
