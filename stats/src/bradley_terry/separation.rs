//! Groups of agents that lost every point to the others, which leaves no finite differences between them.

use super::{BradleyTerry, SeriesResult};

/// Who is joined to whom by chains of points taken. Agents with given strengths are joined to one another.
#[derive(Clone, Debug)]
pub(super) struct Separation {
    reaches: Vec<Vec<bool>>,
}

impl Separation {
    pub(super) fn new(model: &BradleyTerry, results: &[SeriesResult]) -> Separation {
        let is_given = |agent: usize| model.anchors.contains_key(&agent);
        let mut reaches: Vec<Vec<bool>> = (0..model.agent_count)
            .map(|one| (0..model.agent_count).map(|other| one == other || is_given(one) && is_given(other)).collect())
            .collect();
        for result in results {
            reaches[result.first][result.second] |= result.games.points() > 0.0;
            reaches[result.second][result.first] |= result.games.reversed().points() > 0.0;
        }
        for middle in 0..reaches.len() {
            let onwards = reaches[middle].clone();
            for row in reaches.iter_mut().filter(|row| row[middle]) {
                row.iter_mut().zip(&onwards).for_each(|(reached, &further)| *reached |= further);
            }
        }
        Separation { reaches }
    }

    /// Returns whether a chain of points leads from one agent to another; each agent reaches itself.
    pub(super) fn reaches(&self, from: usize, to: usize) -> bool {
        self.reaches[from][to]
    }

    pub(super) fn joins(&self, one: usize, other: usize) -> bool {
        self.reaches(one, other) && self.reaches(other, one)
    }

    pub(super) fn head(&self, agent: usize) -> usize {
        (0..agent).find(|&other| self.joins(agent, other)).unwrap_or(agent)
    }

    /// Agents in groups such that each agent of a group took every point against each agent of a later group
    /// that it met; best first.
    /// One group means that all strengths are finite. Source: Ford 1957, American Mathematical Monthly 64, 28-33:
    /// finite exactly if "took points off" joins any agent to any other.
    pub(super) fn groups(&self) -> Vec<Vec<usize>> {
        let agents = 0..self.reaches.len();
        let mut heads: Vec<usize> = agents.clone().filter(|&agent| self.head(agent) == agent).collect();
        // Whoever reaches a group stands above it, so above whatever that group reaches: a sort by how many are reached.
        heads.sort_by_key(|&head| std::cmp::Reverse(self.reaches[head].iter().filter(|&&reached| reached).count()));
        heads.into_iter().map(|head| agents.clone().filter(|&agent| self.joins(head, agent)).collect()).collect()
    }
}
