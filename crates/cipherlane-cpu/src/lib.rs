//! The engine on this CPU: portable, SSE, AVX2 and AVX-512 tiers.
