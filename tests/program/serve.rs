//! `serve` as a user starts and ends it; tests/serve asks the server itself.

#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::support::{Shell, assert_contains, assert_fits, send};

#[test]
fn the_address_is_printed_and_ctrl_c_ends_the_server() {
    let mut child = Shell::in_root().start("serve --port 0");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("a line");
    let address = line.split("http://").nth(1).expect("an address").trim().trim_end_matches('/');
    let (ip, port) = address.split_once(':').expect("a port");
    assert_eq!(ip, "127.0.0.1", "{line}");
    let mut stream = TcpStream::connect(address).expect("a server");
    write!(stream, "GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").expect("sent");
    let mut page = String::new();
    stream.read_to_string(&mut page).expect("an answer");
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("<title>Latrunculi</title>"), "{page}");

    Shell::in_root().refuses(&format!("serve --port {port}"), 1, &[port, "in use", "--port"]);

    let begun = Instant::now();
    send("-INT", &child);
    assert_eq!(child.wait().expect("the end").code(), Some(0));
    assert!(begun.elapsed() < Duration::from_secs(2));
}

#[test]
fn the_address_that_stands_for_all_is_explained() {
    let mut child = Shell::in_root().start("serve --port 0 --bind 0.0.0.0");
    let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok).take(3);
    let said = lines.collect::<Vec<_>>().join("\n");
    send("-KILL", &child);
    child.wait().expect("the end");
    assert_contains(&said, &["http://0.0.0.0:", "?token=", "this machine's name or address in place of 0.0.0.0"]);
    said.lines().skip(1).for_each(assert_fits);
}

#[test]
fn a_model_that_is_none_is_refused_before_anything_is_served() {
    Shell::in_root().refuses("serve --port 0 --model Cargo.toml", 1, &["Cargo.toml"]);
}
