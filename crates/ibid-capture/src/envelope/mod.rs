//! Identity in the headers of a request (`X-Tapes-*`).
