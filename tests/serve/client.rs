//! A server for a test, and questions to it.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use latrunculi_data::Precision;
use latrunculi_serve::{Server, Settings};
use latrunculi_train::models::NetworkOpener;
use latrunculi_train::networks::Processor;
use serde_json::{Value, json};

/// A server that ends with the test.
pub(crate) struct Served {
    pub(crate) url: String,
    pub(crate) address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), latrunculi_train::Error>>>,
}

/// What the server said.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{} is not JSON", self.body))
    }

    /// Returns the sentence of a refusal with this status.
    #[track_caller]
    pub(crate) fn refusal(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{}", self.body);
        self.json()["error"].as_str().expect("a sentence").to_owned()
    }
}

pub(crate) fn settings(address: IpAddr, runs: &Path, studies: &Path) -> Settings {
    let networks =
        NetworkOpener { loader: Arc::new(Processor), precision: Precision::F32, notice: Arc::new(|_: &str| {}) };
    Settings {
        address,
        port: 0,
        model: None,
        networks,
        rulesets: Vec::new(),
        runs: runs.to_owned(),
        studies: studies.to_owned(),
    }
}

impl Served {
    /// Serves without runs and studies.
    pub(crate) fn bare() -> Served {
        let nowhere = Path::new("no such folder");
        Served::start(settings(IpAddr::V4(Ipv4Addr::LOCALHOST), nowhere, nowhere))
    }

    pub(crate) fn start(settings: Settings) -> Served {
        let server = Server::bind(settings).expect("a free port");
        let url = server.url().to_owned();
        let host = url.trim_start_matches("http://").split('/').next().expect("a host");
        let port = host.rsplit(':').next().expect("a port").parse().expect("a number");
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let thread = std::thread::spawn(move || server.run(&flag));
        Served { url, address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)), stop, thread: Some(thread) }
    }

    /// Sends a request as it stands, with these headers and nothing else.
    pub(crate) fn raw(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut stream = TcpStream::connect(self.address).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time");
        let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        headers.iter().for_each(|(name, value)| text.push_str(&format!("{name}: {value}\r\n")));
        // A server that refuses a long body may close before it has read it.
        _ = stream.write_all(format!("{text}\r\n{body}").as_bytes());
        let mut bytes = Vec::new();
        _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8(bytes).expect("text");
        let (head, body) = text.split_once("\r\n\r\n").expect("an answer");
        let status = head.split(' ').nth(1).expect("a status").parse().expect("a number");
        Answer { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }

    fn host(&self) -> String {
        self.address.to_string()
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.raw("GET", path, &[("Host", &self.host())], "")
    }

    pub(crate) fn delete(&self, path: &str) -> Answer {
        self.raw("DELETE", path, &[("Host", &self.host())], "")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        let headers = [("Host", &*self.host()), ("Content-Type", "application/json")];
        self.raw("POST", path, &headers, &body.to_string())
    }

    /// Begins a search; returns its address.
    pub(crate) fn search(&self, game: &Value, agent: &str, seconds: f64) -> String {
        let answer =
            self.post("/api/searches", &json!({ "game": game, "agent": agent, "seconds": seconds, "lines": 3 }));
        assert_eq!(answer.status, 200, "{}", answer.body);
        format!("/api/searches/{}", answer.json()["id"].as_str().expect("an id"))
    }

    /// Follows a search to its end.
    pub(crate) fn result(&self, search: &str) -> Value {
        let mut path = search.to_owned();
        let begin = Instant::now();
        loop {
            let news = self.get(&path).json();
            if ["done", "failed"].contains(&news["phase"].as_str().expect("a phase")) {
                return news;
            }
            assert!(begin.elapsed() < Duration::from_secs(120), "{news}");
            path = format!("{search}?seen={}", news["version"]);
        }
    }

    /// Ends the server; returns how long that took.
    pub(crate) fn end(&mut self) -> Duration {
        let begin = Instant::now();
        self.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the server does not panic").expect("the server serves");
        }
        begin.elapsed()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.end();
    }
}
