//! Who is answered.
//! A page of another site must not reach the server through the browser of its user. On a loopback address the server
//! answers to its own names only (another name that resolves to it is DNS rebinding). On every other address a request needs
//! the token. In both cases requests that another site has caused are refused.

use std::hint::black_box;
use std::net::SocketAddr;

use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};

use crate::refusal::Refusal;

pub(crate) struct Access {
    address: SocketAddr,
    /// Needed unless the address is a loopback address.
    token: Option<String>,
}

pub(crate) enum Entry {
    /// It is answered.
    Open,
    /// It brought the token in its address: the browser keeps it in this cookie and asks again without it.
    SetCookie(String),
}

impl Access {
    /// Draws a token where the address needs one.
    pub(crate) fn new(address: SocketAddr) -> Result<Access, getrandom::Error> {
        let token = if address.ip().is_loopback() { None } else { Some(random_text()?) };
        Ok(Access { address, token })
    }

    /// Returns the address of the page, with the token.
    pub(crate) fn url(&self) -> String {
        match &self.token {
            None => format!("http://{}/", self.address),
            Some(token) => format!("http://{}/?token={token}", self.address),
        }
    }

    pub(crate) fn check(&self, request: &Parts) -> Result<Entry, Refusal> {
        let host = text(&request.headers, header::HOST).unwrap_or_default();
        if self.token.is_none() && !self.is_own_name(host) {
            return Err(Refusal::forbidden(format!("this server answers at {} only", self.url())));
        }
        self.check_site(request, host)?;
        let Some(token) = &self.token else { return Ok(Entry::Open) };
        let given = request.uri.query().unwrap_or_default().split('&').find_map(|pair| pair.strip_prefix("token="));
        if request.uri.path() == "/" && given.is_some_and(|given| is_same(given, token)) {
            // Lax: whoever follows the address from a message in a browser comes from another site, and a strict cookie would not
            // be sent. What other sites ask for is refused all the same.
            let cookie = format!("{}={token}; HttpOnly; SameSite=Lax; Path=/", self.cookie_name());
            return Ok(Entry::SetCookie(cookie));
        }
        match self.cookie(&request.headers).is_some_and(|given| is_same(given, token)) {
            true => Ok(Entry::Open),
            false => Err(Refusal::no_token()),
        }
    }

    /// Refuses what a page of another site has caused; its links to the page itself are followed.
    fn check_site(&self, request: &Parts, host: &str) -> Result<(), Refusal> {
        let headers = &request.headers;
        let is_link = request.method == Method::GET && request.uri.path() == "/";
        let is_own_origin = match text(headers, header::ORIGIN) {
            None => !headers.contains_key(header::ORIGIN),
            Some(origin) => ["http://", "https://"].iter().any(|scheme| origin.strip_prefix(scheme) == Some(host)),
        };
        let is_own_site = match headers.get("sec-fetch-site").map(|site| site.as_bytes()) {
            None | Some(b"same-origin" | b"none") => true,
            Some(_) => is_link,
        };
        match is_own_origin && is_own_site {
            true => Ok(()),
            false => Err(Refusal::forbidden("requests of other sites are not answered")),
        }
    }

    /// Tells whether a `Host` header names this server on its own machine.
    fn is_own_name(&self, host: &str) -> bool {
        let port = self.address.port();
        let names = [
            "localhost".to_owned(),
            "127.0.0.1".to_owned(),
            "[::1]".to_owned(),
            match self.address {
                SocketAddr::V4(address) => address.ip().to_string(),
                SocketAddr::V6(address) => format!("[{}]", address.ip()),
            },
        ];
        names.iter().any(|name| match host.strip_prefix(name.as_str()) {
            Some("") => port == 80,
            Some(rest) => rest.strip_prefix(':') == Some(port.to_string().as_str()),
            None => false,
        })
    }

    /// Cookies belong to a host, whatever the port: the port is part of the name.
    fn cookie_name(&self) -> String {
        format!("latrunculi-{}", self.address.port())
    }

    fn cookie<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        let name = self.cookie_name();
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        cookies.flat_map(|line| line.split(';')).find_map(|pair| pair.trim().strip_prefix(&name)?.strip_prefix('='))
    }
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// Compares two texts in a time that does not depend on where they differ.
fn is_same(given: &str, token: &str) -> bool {
    let differences = given.bytes().zip(token.bytes()).fold(0, |all, (left, right)| black_box(all | (left ^ right)));
    given.len() == token.len() && differences == 0
}

/// Draws 32 hexadecimal digits from the system.
pub(crate) fn random_text() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::is_same;

    #[test]
    fn a_token_is_the_same_only_if_every_letter_is() {
        assert!(is_same("0123", "0123"));
        // Differences that cancel out, were they added without a carry.
        for other in ["1032", "012", "01234", "0124", ""] {
            assert!(!is_same(other, "0123"), "{other}");
        }
    }
}
