//! Folders whose contents are shown. No path leads outside them.

use std::fs;
use std::path::{Component, Path, PathBuf};

use latrunculi_train::folders::FolderKind;

use crate::refusal::Refusal;

pub(crate) struct Folder {
    root: PathBuf,
    /// What one of its folders is called, for messages.
    what: &'static str,
    kind: FolderKind,
}

const LISTED_MAX: usize = 1000;

impl Folder {
    pub(crate) fn of_runs(root: PathBuf) -> Folder {
        Folder { root, what: "run", kind: FolderKind::Run }
    }

    pub(crate) fn of_studies(root: PathBuf) -> Folder {
        Folder { root, what: "study", kind: FolderKind::Study }
    }

    pub(crate) fn shown(&self) -> String {
        self.root.display().to_string()
    }

    /// Returns the path of the run or study `name` as a person here would write it.
    pub(crate) fn shown_path(&self, name: &str) -> String {
        let is_own = self.own_name().is_some_and(|own| own == name);
        if is_own { self.shown() } else { self.root.join(name).display().to_string() }
    }

    /// Returns the names of the runs or studies in the folder, in alphabetical order. A folder that is one itself is the only
    /// one.
    pub(crate) fn names(&self) -> Vec<String> {
        if let Some(name) = self.own_name() {
            return vec![name];
        }
        let entries = fs::read_dir(&self.root).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| self.is_one(&self.root.join(name))).take(LISTED_MAX).collect();
        names.retain(|name| self.path(name, &[]).is_ok());
        names.sort_unstable();
        names
    }

    /// Returns the names of folders beside these that hold a file of one, but not the file that makes them one.
    pub(crate) fn others_with(&self, file: &str) -> Vec<String> {
        let entries = fs::read_dir(&self.root).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let is_other = |name: &String| !self.is_one(&self.root.join(name)) && self.path(name, &[file]).is_ok();
        let mut names: Vec<String> = names.filter(is_other).take(LISTED_MAX).collect();
        names.sort_unstable();
        names
    }

    fn is_one(&self, path: &Path) -> bool {
        FolderKind::of(path) == Some(self.kind)
    }

    /// Returns the name of the folder if it is itself a run or a study.
    fn own_name(&self) -> Option<String> {
        let root = self.root.canonicalize().ok().filter(|root| self.is_one(root))?;
        root.file_name()?.to_str().map(str::to_owned)
    }

    /// Returns the path of something in the run or study `name`: each part is the name of a folder or file in the one before.
    /// Fails when there is nothing, or it lies outside the folder, also by way of a link.
    pub(crate) fn path(&self, name: &str, parts: &[&str]) -> Result<PathBuf, Refusal> {
        let unknown = || {
            let what = self.what;
            let is_there = !parts.is_empty() && self.path(name, &[]).is_ok();
            Refusal::unknown(if is_there {
                format!("the {what} {name:?} has no {:?}", parts.join("/"))
            } else {
                format!("there is no {what} {name:?} in the folder {}", self.shown())
            })
        };
        let root = self.root.canonicalize().map_err(|_| unknown())?;
        let is_own = self.own_name().is_some_and(|own| own == name);
        let names = if is_own { &[][..] } else { &[name][..] };
        let mut path = root.clone();
        for part in names.iter().chain(parts) {
            let mut components = Path::new(part).components();
            let is_name = matches!(components.next(), Some(Component::Normal(_))) && components.next().is_none();
            if !is_name || part.contains(['/', '\\', '\0']) {
                return Err(unknown());
            }
            path.push(part);
        }
        let found = path.canonicalize().map_err(|_| unknown())?;
        if found.starts_with(&root) { Ok(found) } else { Err(unknown()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leads_outside() {
        let folder = tempfile::tempdir().unwrap();
        let runs = folder.path().join("runs");
        fs::create_dir_all(runs.join("one/export")).unwrap();
        fs::write(runs.join("one/config.toml"), "").unwrap();
        fs::write(folder.path().join("secret"), "").unwrap();
        let shown = Folder::of_runs(runs.clone());
        assert_eq!(shown.names(), ["one"]);
        assert!(shown.path("one", &["config.toml"]).is_ok());
        for (name, parts) in [
            ("..", &["secret"][..]),
            ("one", &["..", "..", "secret"]),
            ("one", &["../../secret"]),
            ("one/config.toml", &[]),
            ("", &[]),
            (".", &[]),
            ("one", &["/etc/passwd"]),
            ("one", &["config.toml\0"]),
            ("two", &[]),
        ] {
            assert!(shown.path(name, parts).is_err(), "{name} {parts:?}");
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::symlink;
            symlink(folder.path().join("secret"), runs.join("one/link")).unwrap();
            fs::create_dir(folder.path().join("other")).unwrap();
            fs::write(folder.path().join("other/config.toml"), "").unwrap();
            symlink(folder.path().join("other"), runs.join("linked")).unwrap();
            assert!(shown.path("one", &["link"]).is_err());
            assert!(shown.path("linked", &["config.toml"]).is_err());
            assert_eq!(shown.names(), ["one"]);
        }
        // A folder that is a run itself is shown as the only one.
        let single = Folder::of_runs(runs.join("one"));
        assert_eq!(single.names(), ["one"]);
        assert!(single.path("one", &["config.toml"]).is_ok());
        assert!(single.path("one", &["..", "..", "secret"]).is_err());
    }
}
