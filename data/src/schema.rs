//! How a column of samples is declared: `sample_schema!` makes of one declaration the field of a sample, the column in memory, the
//! array of a shard with its checks, the column of a training batch, and the row of the table in docs/FORMATS.md.

use std::io::{self, Seek, Write};
use std::ops::RangeInclusive;

use latrunculi_engine::{Rules, SquareSet, Symmetry};
use npyz::{AutoSerialize, Deserialize};

use crate::error::{Error, check_length};
use crate::features::{EncodedPosition, Encoder, PLANES, SCALARS, Shape, pack_plane, packed_plane_len};
use crate::npz::{ArrayReader, ArrayWriter};
use crate::policy_index::ActionIndices;
use crate::replay::ReplaySettings;

/// One dimension of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// `N`: samples.
    Samples,
    /// `L`: legal actions of all samples.
    Actions,
    /// `C`: binary planes.
    Planes,
    /// `P`: bytes of a packed plane.
    PlaneBytes,
    /// `S`: scalars of the position.
    Scalars,
    /// `A`: squares; in batches alone.
    Squares,
    /// A fixed length.
    Fixed(usize),
}

/// The numbers that say how long columns are.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Sizes of a position.
    pub shape: Shape,
    /// Samples, `N`.
    pub samples: usize,
    /// Legal actions of all samples, `L`.
    pub actions: usize,
}

impl Extent {
    /// Returns the length of a dimension.
    #[must_use]
    pub fn len(&self, dimension: Dimension) -> usize {
        match dimension {
            Dimension::Samples => self.samples,
            Dimension::Actions => self.actions,
            Dimension::Planes => self.shape.planes,
            Dimension::PlaneBytes => packed_plane_len(self.shape.area()),
            Dimension::Scalars => SCALARS.len(),
            Dimension::Squares => self.shape.area(),
            Dimension::Fixed(len) => len,
        }
    }

    /// Returns the product of several dimensions.
    #[must_use]
    pub fn product(&self, dimensions: &[Dimension]) -> usize {
        dimensions.iter().map(|&dimension| self.len(dimension)).product()
    }
}

/// Returns the row of a column in a table in Markdown: name, type, shape, meaning.
#[must_use]
pub fn markdown_row<K: Kind>(name: &str, meaning: &str) -> String {
    let letter = |dimension| match dimension {
        Dimension::Samples => "N".to_owned(),
        Dimension::Actions => "L".to_owned(),
        Dimension::Planes => "C".to_owned(),
        Dimension::PlaneBytes => "P".to_owned(),
        Dimension::Scalars => "S".to_owned(),
        Dimension::Squares => "A".to_owned(),
        Dimension::Fixed(len) => len.to_string(),
    };
    let shape: Vec<String> = dimensions::<K>().map(letter).collect();
    let entry = <K::Entry as Entry>::Scalar::NAME;
    format!("| `{name}` | {entry} | {} | {} |\n", shape.join(", "), meaning.trim())
}

/// A number of an array.
pub trait Scalar: AutoSerialize + Deserialize + Copy + 'static {
    /// Its name in documentation.
    const NAME: &'static str;

    /// Returns it for the range check.
    fn to_f64(self) -> f64;
}

macro_rules! scalars {
    ($($number:ty),+) => {$(
        impl Scalar for $number {
            const NAME: &'static str = stringify!($number);

            fn to_f64(self) -> f64 {
                self as f64
            }
        }
    )+};
}

scalars!(u8, u32, i64, f32);

/// An entry of a column in memory: a number or a row of numbers.
pub trait Entry: Copy + 'static {
    /// Its numbers.
    type Scalar: Scalar;
    /// The dimensions that it adds to those of the column.
    const DIMENSIONS: &'static [Dimension];

    /// Returns the numbers of entries, one after the other.
    fn flat(entries: &[Self]) -> &[Self::Scalar];

    /// Returns the entries of numbers.
    fn from_flat(numbers: Vec<Self::Scalar>) -> Vec<Self>;
}

impl<T: Scalar> Entry for T {
    type Scalar = T;
    const DIMENSIONS: &'static [Dimension] = &[];

    fn flat(entries: &[T]) -> &[T] {
        entries
    }

    fn from_flat(numbers: Vec<T>) -> Vec<T> {
        numbers
    }
}

impl<T: Scalar, const K: usize> Entry for [T; K] {
    type Scalar = T;
    const DIMENSIONS: &'static [Dimension] = &[Dimension::Fixed(K)];

    fn flat(entries: &[[T; K]]) -> &[T] {
        entries.as_flattened()
    }

    fn from_flat(numbers: Vec<T>) -> Vec<[T; K]> {
        numbers.as_chunks::<K>().0.to_vec()
    }
}

/// How a column is stored.
pub trait Kind {
    /// What one sample gives.
    type Value<'a>: Copy;
    /// What the column holds.
    type Entry: Entry;
    /// Dimensions of the column, without those of its entries.
    const DIMENSIONS: &'static [Dimension];

    /// Adds the value of one sample.
    fn push(value: Self::Value<'_>, shape: &Shape, column: &mut Vec<Self::Entry>);

    /// Adds another column; `samples_before` samples were there.
    fn append(column: &mut Vec<Self::Entry>, other: &[Self::Entry], _samples_before: usize) {
        column.extend_from_slice(other);
    }

    /// Checks what a range of numbers cannot say.
    fn check(_column: &[Self::Entry], _extent: &Extent) -> Result<(), String> {
        Ok(())
    }
}

/// One entry per sample.
#[derive(Debug)]
pub struct PerSample<T>(std::marker::PhantomData<T>);

impl<T: Entry> Kind for PerSample<T> {
    type Value<'a> = T;
    type Entry = T;
    const DIMENSIONS: &'static [Dimension] = &[Dimension::Samples];

    fn push(value: T, _: &Shape, column: &mut Vec<T>) {
        column.push(value);
    }
}

/// One number per legal action.
#[derive(Debug)]
pub struct PerAction<T>(std::marker::PhantomData<T>);

impl<T: Entry> Kind for PerAction<T> {
    type Value<'a> = &'a [T];
    type Entry = T;
    const DIMENSIONS: &'static [Dimension] = &[Dimension::Actions];

    fn push(value: &[T], _: &Shape, column: &mut Vec<T>) {
        column.extend_from_slice(value);
    }
}

/// The indices of each legal action in the policy.
#[derive(Debug)]
pub struct PolicyIndices;

impl Kind for PolicyIndices {
    type Value<'a> = &'a [ActionIndices];
    type Entry = ActionIndices;
    const DIMENSIONS: &'static [Dimension] = &[Dimension::Actions];

    fn push(value: &[ActionIndices], _: &Shape, column: &mut Vec<ActionIndices>) {
        column.extend_from_slice(value);
    }

    fn check(column: &[ActionIndices], extent: &Extent) -> Result<(), String> {
        let none = extent.shape.policy_len() as u32;
        if column.iter().any(|&[first, second]| first >= none || second > none) {
            return Err(format!("an entry lies beyond the policy's length {none}"));
        }
        Ok(())
    }
}

/// All planes of a position, packed.
#[derive(Debug)]
pub struct PackedPlanes;

impl Kind for PackedPlanes {
    type Value<'a> = &'a [SquareSet; PLANES.len()];
    type Entry = u8;
    const DIMENSIONS: &'static [Dimension] = &[Dimension::Samples, Dimension::Planes, Dimension::PlaneBytes];

    fn push(value: &[SquareSet; PLANES.len()], shape: &Shape, column: &mut Vec<u8>) {
        for &plane in value {
            pack_plane(plane, shape.area(), column);
        }
    }

    fn check(column: &[u8], extent: &Extent) -> Result<(), String> {
        check_packed(column, extent)
    }
}

/// A set of squares, packed as a plane is.
#[derive(Debug)]
pub struct PackedSquares;

impl Kind for PackedSquares {
    type Value<'a> = SquareSet;
    type Entry = u8;
    const DIMENSIONS: &'static [Dimension] = &[Dimension::Samples, Dimension::PlaneBytes];

    fn push(value: SquareSet, shape: &Shape, column: &mut Vec<u8>) {
        pack_plane(value, shape.area(), column);
    }

    fn check(column: &[u8], extent: &Extent) -> Result<(), String> {
        check_packed(column, extent)
    }
}

fn check_packed(column: &[u8], extent: &Extent) -> Result<(), String> {
    let used = extent.shape.area() % 8;
    let is_clean = |plane: &[u8]| used == 0 || plane.last().is_none_or(|last| last >> used == 0);
    match column.chunks_exact(extent.len(Dimension::PlaneBytes)).all(is_clean) {
        true => Ok(()),
        false => Err("a bit beyond the last square is set".to_owned()),
    }
}

/// The scalars of a position.
#[derive(Debug)]
pub struct PositionScalars;

impl Kind for PositionScalars {
    type Value<'a> = &'a [f32; SCALARS.len()];
    type Entry = f32;
    const DIMENSIONS: &'static [Dimension] = &[Dimension::Samples, Dimension::Scalars];

    fn push(value: &[f32; SCALARS.len()], _: &Shape, column: &mut Vec<f32>) {
        column.extend_from_slice(value);
    }
}

/// Another sample of the same collection, if any; -1 for none.
#[derive(Debug)]
pub struct SampleIndex;

impl Kind for SampleIndex {
    type Value<'a> = Option<usize>;
    type Entry = i64;
    const DIMENSIONS: &'static [Dimension] = &[Dimension::Samples];

    fn push(value: Option<usize>, _: &Shape, column: &mut Vec<i64>) {
        column.push(value.map_or(-1, |index| index as i64));
    }

    fn append(column: &mut Vec<i64>, other: &[i64], samples_before: usize) {
        column.extend(other.iter().map(|&index| if index < 0 { -1 } else { samples_before as i64 + index }));
    }

    fn check(column: &[i64], extent: &Extent) -> Result<(), String> {
        match column.iter().all(|&index| index < extent.samples as i64) {
            true => Ok(()),
            false => Err("an entry names no sample".to_owned()),
        }
    }
}

/// Range of probabilities, with room for rounding.
pub const PROBABILITY: RangeInclusive<f64> = -0.001..=1.001;
/// Range of margins.
pub const MARGIN: RangeInclusive<f64> = -1.0..=1.0;
/// Range of finite numbers of at least 0.
pub const NOT_NEGATIVE: RangeInclusive<f64> = 0.0..=f64::MAX;
/// Range of indices where -1 is "none".
pub const INDEX_OR_NONE: RangeInclusive<f64> = -1.0..=f64::MAX;

/// A column of a training batch.
pub trait BatchColumn: Default {
    /// Checks that the column has `expected` entries and that they agree with each other.
    fn check(&self, name: &str, expected: usize, shape: &Shape) -> Result<(), Error>;
}

impl<T> BatchColumn for Vec<T> {
    fn check(&self, name: &str, expected: usize, _: &Shape) -> Result<(), Error> {
        check_length(name, self.len(), expected)
    }
}

/// One sample, seen by what makes batch columns of it.
#[derive(Debug)]
pub struct SampleView<'a, S> {
    /// The collection that holds it.
    pub samples: &'a S,
    /// Its index there.
    pub index: usize,
    /// The legal actions of the sample in the columns of actions.
    pub actions: std::ops::Range<usize>,
    /// Features of the rules.
    pub encoder: &'a Encoder,
    /// What makes the value target.
    pub settings: &'a ReplaySettings,
    /// The symmetry under which it is to be learnt.
    pub symmetry: Symmetry,
    /// Its position under that symmetry.
    pub position: EncodedPosition,
}

impl<S> SampleView<'_, S> {
    /// Returns the rules.
    #[must_use]
    pub fn rules(&self) -> &Rules {
        self.encoder.rules()
    }

    /// Returns indices of the policy under the symmetry.
    #[must_use]
    pub fn mapped_indices(&self, indices: ActionIndices) -> ActionIndices {
        match self.symmetry == Symmetry::IDENTITY {
            true => indices,
            false => crate::policy_index::mapped_indices(self.rules(), self.symmetry, indices),
        }
    }

    /// Returns squares under the symmetry.
    #[must_use]
    pub fn mapped_squares(&self, squares: SquareSet) -> SquareSet {
        match self.symmetry == Symmetry::IDENTITY {
            true => squares,
            false => self.rules().map_squares(self.symmetry, squares),
        }
    }
}

/// Writes a column as an array.
pub fn write_column<K: Kind, W: Write + Seek>(
    writer: &mut ArrayWriter<W>,
    name: &str,
    column: &[K::Entry],
    extent: &Extent,
) -> io::Result<()> {
    let shape: Vec<usize> = dimensions::<K>().map(|dimension| extent.len(dimension)).collect();
    writer.array(name, &shape, K::Entry::flat(column))
}

/// Reads a column and checks its entries.
pub fn read_column<K: Kind>(
    reader: &mut ArrayReader,
    name: &'static str,
    range: RangeInclusive<f64>,
    extent: &Extent,
) -> Result<Vec<K::Entry>, Error> {
    let shape: Vec<Option<u64>> = dimensions::<K>().map(|dimension| Some(extent.len(dimension) as u64)).collect();
    let numbers = reader.array::<<K::Entry as Entry>::Scalar>(name, &shape)?.entries;
    let column = K::Entry::from_flat(numbers);
    check_column::<K>(name, &column, range, extent)?;
    Ok(column)
}

/// Checks the length of a column and its entries.
pub fn check_column<K: Kind>(
    name: &str,
    column: &[K::Entry],
    range: RangeInclusive<f64>,
    extent: &Extent,
) -> Result<(), Error> {
    let fault = |reason: String| Error::of_array(name, reason);
    let expected: usize = K::DIMENSIONS.iter().map(|&dimension| extent.len(dimension)).product();
    if column.len() != expected {
        return Err(fault(format!("it has {} entries and must have {expected}", column.len())));
    }
    if !K::Entry::flat(column).iter().all(|number| range.contains(&number.to_f64())) {
        let (least, most) = (range.start(), range.end());
        return Err(fault(match *most == f64::MAX {
            true => format!("an entry is not a finite number of at least {least}"),
            false => format!("an entry is not a number from {least} to {most}"),
        }));
    }
    K::check(column, extent).map_err(fault)
}

/// Checks that offsets begin with 0 and rise.
pub fn check_offsets(offsets: &[u64]) -> Result<(), Error> {
    match offsets.first() == Some(&0) && offsets.windows(2).all(|pair| pair[0] < pair[1]) {
        true => Ok(()),
        false => Err(Error::of_array(ACTION_OFFSETS, "the offsets must begin with 0 and rise")),
    }
}

/// Returns the dimensions of a column, those of its entries last.
pub fn dimensions<K: Kind>() -> impl Iterator<Item = Dimension> {
    K::DIMENSIONS.iter().chain(K::Entry::DIMENSIONS).copied()
}

/// More samples than any shard has; a file that announces more is damaged.
const SAMPLES_MAX: u64 = 1 << 31;

/// Name of the array of offsets, which every schema has.
pub const ACTION_OFFSETS: &str = "action_offsets";

/// Reads the array that says which actions belong to which sample.
pub fn read_offsets(reader: &mut ArrayReader) -> Result<Vec<u64>, Error> {
    let announced = reader.length(ACTION_OFFSETS)?;
    if announced > SAMPLES_MAX {
        return Err(Error::of_array(ACTION_OFFSETS, "it has more entries than any shard"));
    }
    let offsets = reader.array::<u64>(ACTION_OFFSETS, &[Some(announced)])?.entries;
    check_offsets(&offsets)?;
    Ok(offsets)
}

/// Declares the columns of samples and what training gets of each.
///
/// One declaration is `/// meaning` (a row of docs/FORMATS.md), `name: kind in range`, and optionally `=> type [shape],
/// "doc", |view, column| fill`: the column of the same name in a training batch, and how it grows by the sample that a
/// [`SampleView`] shows.
macro_rules! sample_schema {
    ($(
        #[doc = $meaning:literal]
        $name:ident: $kind:ty, in $range:expr
        $(=> $batch:ty, [$($dimension:expr),+], $doc:literal, |$view:ident, $column:ident| $fill:expr)?;
    )+) => {
        /// One position with its targets, to be added to [`Samples`].
        #[derive(Clone, Debug)]
        pub struct Sample<'a> {
            $(#[doc = $meaning] pub $name: <$kind as $crate::schema::Kind>::Value<'a>,)+
        }

        /// Positions with their targets, one vector per column.
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct Samples {
            /// Sizes of the positions.
            pub shape: $crate::features::Shape,
            /// `[N + 1]`: the actions of sample `i` are `action_offsets[i]..action_offsets[i + 1]`.
            pub action_offsets: Vec<u64>,
            $(#[doc = $meaning] pub $name: Vec<<$kind as $crate::schema::Kind>::Entry>,)+
        }

        /// Samples of one ruleset to train on, as plain vectors.
        #[derive(Clone, Debug, PartialEq)]
        pub struct TrainingBatch {
            /// Sizes of the input and of the policy.
            pub shape: $crate::features::Shape,
            /// `[R]`: the numbers of the ruleset, [`rule_inputs`](crate::rule_inputs); empty until the first sample.
            pub rule_inputs: Vec<f32>,
            /// `[B + 1]`: the legal actions of sample `b` are `action_offsets[b]..action_offsets[b + 1]` below.
            pub action_offsets: Vec<u32>,
            $($(#[doc = $doc] pub $name: $batch,)?)+
        }

        impl Samples {
            /// Returns an empty collection.
            #[must_use]
            pub fn new(shape: $crate::features::Shape) -> Samples {
                Samples { shape, action_offsets: vec![0], $($name: Vec::new(),)+ }
            }

            /// Returns the number of samples, `N`.
            #[must_use]
            pub fn len(&self) -> usize {
                self.action_offsets.len() - 1
            }

            /// Tells whether there are none.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Adds one.
            /// Panics when there is not one policy entry per action.
            pub fn push(&mut self, sample: &Sample<'_>) {
                assert_eq!(sample.action_indices.len(), sample.policy.len(), "one policy entry per action");
                $(<$kind as $crate::schema::Kind>::push(sample.$name, &self.shape, &mut self.$name);)+
                self.action_offsets.push(self.action_indices.len() as u64);
            }

            /// Adds all of `other`.
            /// Panics when the shapes differ.
            pub fn append(&mut self, other: &Samples) {
                assert_eq!(self.shape, other.shape, "samples of one shape");
                let (samples, actions) = (self.len(), self.action_indices.len() as u64);
                self.action_offsets.extend(other.action_offsets[1..].iter().map(|offset| actions + offset));
                $(<$kind as $crate::schema::Kind>::append(&mut self.$name, &other.$name, samples);)+
            }

            /// Returns the range of sample `index`'s actions in the columns of actions.
            #[must_use]
            pub fn action_range(&self, index: usize) -> std::ops::Range<usize> {
                self.action_offsets[index] as usize..self.action_offsets[index + 1] as usize
            }

            fn extent(&self) -> $crate::schema::Extent {
                let actions = self.action_offsets.last().map_or(0, |&last| last as usize);
                $crate::schema::Extent { shape: self.shape, samples: self.len(), actions }
            }
        }

        impl Samples {
            /// Returns the rows of the table of the columns in docs/FORMATS.md.
            #[must_use]
            pub fn markdown_rows() -> String {
                [$($crate::schema::markdown_row::<$kind>(stringify!($name), $meaning)),+].concat()
            }

            /// Writes the columns, each as an array.
            pub fn write<W: std::io::Write + std::io::Seek>(
                &self,
                writer: &mut $crate::npz::ArrayWriter<W>,
            ) -> std::io::Result<()> {
                let extent = self.extent();
                writer.array($crate::schema::ACTION_OFFSETS, &[self.action_offsets.len()], &self.action_offsets)?;
                $($crate::schema::write_column::<$kind, W>(writer, stringify!($name), &self.$name, &extent)?;)+
                Ok(())
            }

            /// Reads and checks the columns of positions of this shape.
            pub fn read(
                reader: &mut $crate::npz::ArrayReader,
                shape: $crate::features::Shape,
            ) -> Result<Samples, $crate::error::Error> {
                let mut samples = Samples { action_offsets: $crate::schema::read_offsets(reader)?, ..Samples::new(shape) };
                let extent = samples.extent();
                $(samples.$name = $crate::schema::read_column::<$kind>(reader, stringify!($name), $range, &extent)?;)+
                Ok(samples)
            }

            /// Checks columns that come from elsewhere than [`Samples::read`]: lengths and entries.
            /// Error: the first column that is wrong.
            pub fn check_columns(&self) -> Result<(), $crate::error::Error> {
                $crate::schema::check_offsets(&self.action_offsets)?;
                let extent = self.extent();
                $($crate::schema::check_column::<$kind>(stringify!($name), &self.$name, $range, &extent)?;)+
                Ok(())
            }
        }

        impl TrainingBatch {
            /// Returns an empty batch.
            #[must_use]
            pub fn new(shape: $crate::features::Shape) -> TrainingBatch {
                TrainingBatch { shape, rule_inputs: Vec::new(), action_offsets: vec![0], $($($name: <$batch>::default(),)?)+ }
            }

            /// Returns the number of samples, `B`.
            #[must_use]
            pub fn len(&self) -> usize {
                self.action_offsets.len().saturating_sub(1)
            }

            /// Tells whether there are no samples.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Adds a sample.
            /// Panics when it is of another ruleset than the samples before.
            pub fn push(&mut self, view: &$crate::schema::SampleView<'_, Samples>) {
                if self.is_empty() {
                    self.rule_inputs.clear();
                    self.rule_inputs.extend_from_slice(view.encoder.rule_inputs());
                }
                assert_eq!(self.rule_inputs, view.encoder.rule_inputs(), "a batch is of one ruleset");
                $($({
                    fn fill($view: &$crate::schema::SampleView<'_, Samples>, $column: &mut $batch) {
                        $fill
                    }
                    fill(view, &mut self.$name);
                })?)+
                self.action_offsets.push(self.action_indices.len() as u32);
            }

            /// Checks that every column has the length that its declaration asks for.
            pub fn check_lengths(&self) -> Result<(), $crate::error::Error> {
                let actions = self.action_offsets.last().map_or(0, |&last| last as usize);
                let extent = $crate::schema::Extent { shape: self.shape, samples: self.len(), actions };
                let rules = $crate::rule_inputs::count();
                $crate::schema::BatchColumn::check(&self.rule_inputs, "rule_inputs", rules, &self.shape)?;
                $($({
                    let expected = extent.product(&[$($dimension),+]);
                    $crate::schema::BatchColumn::check(&self.$name, stringify!($name), expected, &self.shape)?;
                })?)+
                Ok(())
            }
        }
    };
}

pub(crate) use sample_schema;

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::sync::Arc;

    use latrunculi_engine::{GameState, presets};

    use super::*;

    /// A small schema with a target that the program does not have.
    #[expect(unreachable_pub, dead_code, reason = "the schema makes public types, of which this test uses a part")]
    mod extended {
        use crate::schema::Dimension;
        use crate::schema::{NOT_NEGATIVE, PROBABILITY, PerAction, PerSample, PolicyIndices};

        sample_schema! {
            /// indices
            action_indices: PolicyIndices, in NOT_NEGATIVE
                => Vec<crate::ActionIndices>, [Dimension::Actions], "`[L]`",
                |view, column| column.extend_from_slice(&view.samples.action_indices[view.actions.clone()]);

            /// policy
            policy: PerAction<f32>, in PROBABILITY;

            /// captures until the end of the game
            captures_left: PerSample<u32>, in NOT_NEGATIVE
                => Vec<f32>, [Dimension::Samples], "`[B]`: half the captures.",
                |view, column| column.push(view.samples.captures_left[view.index] as f32 / 2.0);
        }
    }

    #[test]
    fn a_target_that_is_declared_once_is_in_shard_batch_and_documentation() {
        let rules = presets::rules("bell");
        let encoder = Encoder::new(Arc::clone(&rules));
        let mut samples = extended::Samples::new(encoder.shape());
        for captures_left in [3, 5] {
            samples.push(&extended::Sample { action_indices: &[[1, 2], [3, 4]], policy: &[0.25, 0.75], captures_left });
        }
        samples.append(&samples.clone());
        assert_eq!(samples.captures_left, [3, 5, 3, 5]);

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npz");
        let mut writer = ArrayWriter::new(Cursor::new(Vec::new()), true);
        samples.write(&mut writer).unwrap();
        std::fs::write(&path, writer.finish().unwrap().into_inner()).unwrap();
        let mut reader = ArrayReader::open(&path).unwrap();
        assert!(reader.has("captures_left"));
        assert_eq!(extended::Samples::read(&mut reader, encoder.shape()).unwrap(), samples);

        let game = GameState::new(Arc::clone(&rules));
        let view = SampleView {
            samples: &samples,
            index: 1,
            actions: samples.action_range(1),
            encoder: &encoder,
            settings: &ReplaySettings::default(),
            symmetry: Symmetry::IDENTITY,
            position: EncodedPosition::new(&rules, game.position(), 1),
        };
        let mut batch = extended::TrainingBatch::new(encoder.shape());
        batch.push(&view);
        assert_eq!(batch.captures_left, [2.5]);
        batch.check_lengths().unwrap();
        batch.captures_left.pop();
        assert!(batch.check_lengths().unwrap_err().to_string().contains("'captures_left'"));

        let rows = extended::Samples::markdown_rows();
        assert!(rows.ends_with("| `captures_left` | u32 | N | captures until the end of the game |\n"), "{rows}");
    }
}
