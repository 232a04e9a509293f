//! Finds groups of agents that lost every point to the others, which leaves no finite strengths.

/// Agents in groups such that each agent of a group took every point against each agent of a later group
/// that it met; best first.
///
/// One group means that all strengths are finite. `points[i][j]` is what agent `i` took off agent `j`.
///
/// Source: Ford 1957, American Mathematical Monthly 64, 28-33: finite exactly if "took points off" joins any agent to any other.
pub(super) fn groups(points: &[Vec<f64>]) -> Vec<Vec<usize>> {
    let reaches = reachability(points);
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (agent, row) in reaches.iter().enumerate() {
        let same = |other: usize| row[other] && reaches[other][agent];
        match groups.iter_mut().find(|group| same(group[0])) {
            Some(group) => group.push(agent),
            None => groups.push(vec![agent]),
        }
    }
    // Whoever reaches a group stands above it, so above whatever that group reaches: a sort by how many are reached.
    groups.sort_by_key(|group| std::cmp::Reverse(reaches[group[0]].iter().filter(|&&reached| reached).count()));
    groups
}

/// Returns whether a chain of points taken leads from one agent to another; each agent reaches itself.
fn reachability(points: &[Vec<f64>]) -> Vec<Vec<bool>> {
    let mut reaches: Vec<Vec<bool>> = points.iter().map(|row| row.iter().map(|&taken| taken > 0.0).collect()).collect();
    for (agent, row) in reaches.iter_mut().enumerate() {
        row[agent] = true;
    }
    for middle in 0..points.len() {
        let onwards = reaches[middle].clone();
        for row in &mut reaches {
            if row[middle] {
                row.iter_mut().zip(&onwards).for_each(|(reached, &further)| *reached |= further);
            }
        }
    }
    reaches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_that_share_points_are_one_group() {
        let cycle = [vec![0.0, 1.0, 0.0], vec![0.0, 0.0, 1.0], vec![0.5, 0.0, 0.0]];
        assert_eq!(groups(&cycle), [vec![0, 1, 2]]);
    }

    #[test]
    fn who_took_every_point_stands_above() {
        let ladder = [vec![0.0, 0.0, 0.0], vec![3.0, 0.0, 2.5], vec![3.0, 0.5, 0.0]];
        assert_eq!(groups(&ladder), [vec![1, 2], vec![0]]);
        let apart = [vec![0.0, 0.0], vec![0.0, 0.0]];
        assert_eq!(groups(&apart), [vec![0], vec![1]]);
    }
}
