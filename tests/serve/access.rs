//! Who is answered, with what, and how the server begins and ends.

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::time::Duration;

use latrunculi_serve::Server;
use serde_json::json;

use crate::client::{Served, settings};

#[test]
fn the_page_and_its_files_come_with_a_policy_that_lets_nothing_else_in() {
    let served = Served::bare();
    let page = served.get("/");
    assert_eq!(page.status, 200);
    assert!(page.head.contains("content-security-policy: default-src 'none'; script-src 'self'"), "{}", page.head);
    assert!(page.head.contains("x-content-type-options: nosniff"), "{}", page.head);
    let files: Vec<&str> = page.body.split('"').filter(|part| part.starts_with("/app/")).collect();
    assert!(files.len() >= 3, "{files:?}");
    for file in files {
        assert_eq!(served.get(file).status, 200, "{file}");
    }
    assert!(served.get("/app/main.js").head.contains("content-type: text/javascript"));
    served.get("/app/..%2Findex.html").refusal(404);
    served.get("/nothing").refusal(404);
}

#[test]
fn a_person_who_follows_a_wrong_address_gets_a_page_with_the_parts_of_the_page() {
    let served = Served::bare();
    let own = served.address.to_string();
    let go = |path: &str| served.raw("GET", path, &[("Host", &own), ("Accept", "text/html,application/xml;q=0.9")], "");
    for path in ["/nonsense", "/play", "/app/nothing.js", "/studies/none/report.html"] {
        let page = go(path);
        assert_eq!(page.status, 404, "{path}");
        assert!(
            page.head.contains("content-type: text/html") && page.head.contains("default-src 'none'"),
            "{}",
            page.head
        );
        assert!(["/#play", "/#studies"].iter().all(|part| page.body.contains(part)), "{}", page.body);
        served.get(path).refusal(404);
    }
    let page = go("/app/%3Cscript%3E");
    assert!(page.body.contains("&lt;script&gt;") && !page.body.contains("<script>"), "{}", page.body);
}

#[test]
fn other_sites_and_other_names_of_the_machine_are_not_answered() {
    let served = Served::bare();
    let own = served.address.to_string();
    let status = |headers: &[(&str, &str)]| served.raw("GET", "/api/runs", headers, "").status;
    let port = served.address.port();
    assert_eq!(served.url, format!("http://{own}/"));
    for host in ["127.0.0.1", "localhost", "[::1]"] {
        assert_eq!(status(&[("Host", &format!("{host}:{port}"))]), 200, "{host}");
    }
    for host in [format!("evil.example:{port}"), format!("{own}0"), format!("localhost.evil.example:{port}")] {
        assert_eq!(status(&[("Host", &host)]), 403, "{host}");
    }
    for host in ["board.evil.example", "127.0.0.1", ""] {
        assert_eq!(status(&[("Host", host)]), 403, "{host}");
    }
    for origin in ["http://evil.example", "null"] {
        assert_eq!(status(&[("Host", &own), ("Origin", origin)]), 403, "{origin}");
    }
    assert_eq!(status(&[("Host", &own), ("Origin", &format!("http://{own}"))]), 200);
    assert_eq!(status(&[("Host", &own), ("Sec-Fetch-Site", "same-origin")]), 200);
    assert_eq!(status(&[("Host", &own), ("Sec-Fetch-Site", "cross-site")]), 403);
    let link = served.raw("GET", "/", &[("Host", &own), ("Sec-Fetch-Site", "cross-site")], "");
    assert_eq!(link.status, 200, "a link to the page is followed");
    // A form of another site cannot send JSON.
    let form = [("Host", &*own), ("Content-Type", "text/plain")];
    assert_eq!(served.raw("POST", "/api/game", &form, r#"{"ruleset":"bell"}"#).status, 422);
}

#[test]
fn an_address_that_others_reach_needs_the_token() {
    let nowhere = Path::new("no such folder");
    let served = Served::start(settings(IpAddr::V4(Ipv4Addr::UNSPECIFIED), nowhere, nowhere));
    let token = served.url.split("token=").nth(1).expect("a token in the address");
    assert_eq!(token.len(), 32);
    let host = ("Host", "board.example:1");
    served.raw("GET", "/", &[host], "").refusal(401);
    for other in ["00000000000000000000000000000000", &token[1..]] {
        served.raw("GET", &format!("/?token={other}"), &[host], "").refusal(401);
    }
    // Only the page sets the cookie.
    served.raw("GET", &format!("/api/start?token={token}"), &[host], "").refusal(401);
    let entered = served.raw("GET", &format!("/?token={token}"), &[host], "");
    assert_eq!(entered.status, 303);
    let cookie = entered.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect("a cookie");
    assert!(cookie.contains("httponly") && cookie.contains("samesite=lax"), "{cookie}");
    let cookie = cookie.split(';').next().expect("a value");
    let among_others = format!("other=1; {cookie}");
    assert_eq!(served.raw("GET", "/api/start", &[host, ("Cookie", &among_others)], "").status, 200);
    let name = cookie.split('=').next().expect("a name");
    // A cookie belongs to a host; two servers on one host have one each.
    assert!(name.ends_with(&format!("-{}", served.address.port())), "{name}");
    served.raw("GET", "/api/start", &[host, ("Cookie", &format!("{name}=0"))], "").refusal(401);
    let stranger = [host, ("Cookie", cookie), ("Origin", "http://evil.example")];
    served.raw("GET", "/api/start", &stranger, "").refusal(403);
}

#[test]
fn bodies_are_limited_and_must_be_understood() {
    let served = Served::bare();
    let long = json!({ "ruleset": "bell", "start": "x".repeat(2 << 20) });
    served.post("/api/game", &long).refusal(413);
    assert!(served.post("/api/game", &json!({ "actions": [] })).refusal(422).contains("ruleset"));
    assert!(served.post("/api/game", &json!([])).refusal(422).contains("not understood"));
}

#[test]
fn what_the_http_library_refuses_has_the_form_of_every_refusal() {
    let served = Served::bare();
    let own = served.address.to_string();
    let ask = |method: &str, path: &str, kind: &str, body: &str| {
        served.raw(method, path, &[("Host", &own), ("Content-Type", kind)], body)
    };
    let json = "application/json";
    let method = ask("DELETE", "/api/start", json, "");
    assert!(method.refusal(405).contains("DELETE is not answered at this address"), "{}", method.body);
    assert!(method.head.contains("allow: get,head"), "{}", method.head);
    ask("GET", "/api/searches", json, "").refusal(405);
    ask("POST", "/", json, "").refusal(405);
    ask("GET", "/nothing", json, "").refusal(404);
    ask("GET", "/api/runs/%ff", json, "").refusal(400);
    let seen = ask("GET", "/api/searches/1?seen=x", json, "");
    assert!(!seen.refusal(seen.status).is_empty());
    ask("POST", "/api/game", "text/plain", "{}").refusal(422);
    ask("POST", "/api/game", json, "{").refusal(422);
}

#[test]
fn a_port_in_use_is_named_with_the_way_out() {
    let served = Served::bare();
    let nowhere = Path::new("no such folder");
    let mut taken = settings(IpAddr::V4(Ipv4Addr::LOCALHOST), nowhere, nowhere);
    taken.port = served.address.port();
    let error = Server::bind(taken).err().expect("the port is taken");
    let text = error.to_string();
    assert!(text.contains("in use") && text.contains("--port"), "{text}");
}

#[test]
fn the_server_ends_at_once_while_a_search_and_a_question_wait() {
    let mut served = Served::bare();
    let search = served.search(&json!({ "ruleset": "savard" }), "alphabeta:nodes=20000000", 120.0);
    let news = served.get(&search).json();
    let address = served.address;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            use std::io::{Read, Write};
            let mut stream = std::net::TcpStream::connect(address).expect("the server listens");
            let path = format!("{search}?seen={}", news["version"].as_u64().unwrap() + 1_000_000);
            let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n");
            stream.write_all(request.as_bytes()).expect("a question");
            _ = stream.read(&mut [0; 64]);
        });
        std::thread::sleep(Duration::from_millis(200));
        assert!(served.end() < Duration::from_secs(2));
    });
}
