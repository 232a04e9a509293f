//! The published numbers.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Every vector of the file; unknown names are refused at each level.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Vectors {
    #[serde(rename = "note")]
    _note: String,
    pub(crate) llr: Vec<LikelihoodVector>,
    pub(crate) elo_fastchess: Vec<EloVector>,
    pub(crate) wilson_cp: Vec<ProportionVector>,
    pub(crate) joint_pair_table: PairTableVector,
    pub(crate) bt_baseball: BaseballVector,
    pub(crate) davidson_pudding: PuddingVector,
    pub(crate) bt_three_agents: ThreeAgentsVector,
    pub(crate) komi: CompensationVector,
}

const TEXT: &str = include_str!("vectors.json");

pub(crate) fn load() -> Vectors {
    serde_json::from_str(TEXT).expect("every vector has a name and a shape that a test handles")
}

/// Counts are `[LL, LD, LW+DD, WD, WW]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LikelihoodVector {
    pub(crate) src: String,
    pub(crate) counts: [u64; 5],
    pub(crate) elo0: f64,
    pub(crate) elo1: f64,
    pub(crate) published: f64,
    #[serde(rename = "ref")]
    pub(crate) reference: f64,
}

/// Either three counts or five; an error bar or a likelihood only where it was published.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EloVector {
    #[serde(rename = "W")]
    pub(crate) wins: Option<u64>,
    #[serde(rename = "L")]
    pub(crate) losses: Option<u64>,
    #[serde(rename = "D")]
    pub(crate) draws: Option<u64>,
    pub(crate) penta: Option<[u64; 5]>,
    pub(crate) score: f64,
    pub(crate) elo: Option<f64>,
    pub(crate) elo_err: Option<f64>,
    pub(crate) nelo: f64,
    pub(crate) nelo_err: f64,
    pub(crate) los: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProportionVector {
    pub(crate) k: u64,
    pub(crate) n: u64,
    pub(crate) wilson: [f64; 2],
    pub(crate) clopper_pearson: [f64; 2],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PairTableVector {
    #[serde(rename = "rows")]
    _rows: String,
    #[serde(rename = "cols")]
    _cols: String,
    #[serde(rename = "J")]
    pub(crate) counts: [[u64; 3]; 3],
    pub(crate) first_player: MomentsVector,
    #[serde(rename = "agent_A")]
    pub(crate) agent: MomentsVector,
    pub(crate) trinomial_first: TrinomialVector,
    pub(crate) penta_first: [u64; 5],
    pub(crate) penta_agent: [u64; 5],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MomentsVector {
    pub(crate) mean: f64,
    pub(crate) var: f64,
    pub(crate) se: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TrinomialVector {
    #[serde(rename = "W")]
    pub(crate) wins: u64,
    #[serde(rename = "D")]
    pub(crate) draws: u64,
    #[serde(rename = "L")]
    pub(crate) losses: u64,
    pub(crate) se_if_independent: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BaseballVector {
    #[serde(rename = "src")]
    _src: String,
    pub(crate) published: BaseballPublished,
    #[serde(rename = "ref")]
    pub(crate) reference: BaseballReference,
    /// Home team, away team, home wins, away wins.
    #[serde(rename = "rows_home_away_homewins_awaywins")]
    pub(crate) rows: Vec<(String, String, u64, u64)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BaseballPublished {
    pub(crate) at_home: f64,
    pub(crate) abilities_sorted: [f64; 7],
    pub(crate) model1_coefs_sorted: [f64; 6],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BaseballReference {
    pub(crate) at_home: f64,
    pub(crate) se_joint: f64,
    pub(crate) lr_stat: f64,
    pub(crate) loglik_no_home: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PuddingVector {
    #[serde(rename = "src")]
    _src: String,
    #[serde(rename = "ref")]
    pub(crate) reference: PuddingReference,
    /// Items from 1 on, then wins of the one, wins of the other, ties.
    #[serde(rename = "rows_i_j_wij_wji_tie")]
    pub(crate) rows: Vec<(usize, usize, u64, u64, u64)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PuddingReference {
    pub(crate) worth: [f64; 6],
    pub(crate) nu: f64,
    pub(crate) loglik: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ThreeAgentsVector {
    #[serde(rename = "games")]
    _games: String,
    /// First and second player, then wins, draws and losses of the first.
    pub(crate) data: Vec<(String, String, u64, u64, u64)>,
    pub(crate) rao_kupper: ThreeAgentsFit,
    pub(crate) davidson: ThreeAgentsFit,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ThreeAgentsFit {
    pub(crate) elo: BTreeMap<String, f64>,
    pub(crate) adv: f64,
    pub(crate) adv_se: f64,
    pub(crate) drawelo: Option<f64>,
    pub(crate) nu: Option<f64>,
    pub(crate) loglik: f64,
    pub(crate) equal_strength: EqualStrengthVector,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EqualStrengthVector {
    #[serde(rename = "W")]
    pub(crate) win: f64,
    #[serde(rename = "D")]
    pub(crate) draw: f64,
    #[serde(rename = "L")]
    pub(crate) loss: f64,
    pub(crate) score: f64,
    pub(crate) se: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CompensationVector {
    pub(crate) h: Vec<f64>,
    pub(crate) n: Vec<f64>,
    pub(crate) score: Vec<f64>,
    pub(crate) b: [f64; 2],
    pub(crate) h_star: f64,
    pub(crate) fieller95: [f64; 2],
}

#[test]
fn unknown_names_in_the_vectors_are_errors() {
    let mut file: serde_json::Value = serde_json::from_str(TEXT).unwrap();
    file["bt_four_agents"] = serde_json::json!([]);
    assert!(serde_json::from_value::<Vectors>(file).is_err());
    let mut file: serde_json::Value = serde_json::from_str(TEXT).unwrap();
    file["llr"][0]["counts"] = serde_json::json!([1, 2, 3]);
    assert!(serde_json::from_value::<Vectors>(file).is_err());
    let mut file: serde_json::Value = serde_json::from_str(TEXT).unwrap();
    file["bt_three_agents"]["davidson"]["adv_p"] = 0.5.into();
    assert!(serde_json::from_value::<Vectors>(file).is_err());
}

#[test]
fn no_list_of_vectors_is_empty() {
    let vectors = load();
    assert_eq!(vectors.llr.len(), 2);
    assert_eq!(vectors.elo_fastchess.len(), 6);
    assert_eq!(vectors.wilson_cp.len(), 4);
    assert_eq!(vectors.bt_baseball.rows.len(), 42);
    assert_eq!(vectors.davidson_pudding.rows.len(), 15);
    assert_eq!(vectors.bt_three_agents.data.len(), 7);
}
