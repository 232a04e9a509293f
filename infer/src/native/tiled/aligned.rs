//! Memory for tiles. A tile has 16 rows of 64 bytes.

/// Bytes of a tile.
pub(super) const TILE: usize = 1024;

/// A row of a tile, aligned to a line of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// A number that tiles and vectors hold: any bits are a value, and there is no padding.
pub(super) trait Element: Copy {}
impl Element for f32 {}
impl Element for i32 {}
impl Element for u16 {}
impl Element for u8 {}
impl Element for i8 {}

/// Numbers, aligned to lines of the cache and filled up with zeros to whole lines.
#[derive(Clone, Debug)]
pub(super) struct Aligned<T> {
    lines: Vec<Line>,
    len: usize,
    element: std::marker::PhantomData<T>,
}

impl<T: Element> Aligned<T> {
    pub(super) fn zeros(len: usize) -> Aligned<T> {
        let lines = vec![Line([0; 64]); (len * size_of::<T>()).div_ceil(64)];
        Aligned { lines, len, element: std::marker::PhantomData }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: the elements lie in the lines, without padding, and live as long as `self`.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len * size_of::<T>()) }
    }
}

impl<T: Element> std::ops::Deref for Aligned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the lines hold at least `len` elements, are aligned to more than an element needs, live as long as
        // `self`, and any bits are a value of an `Element`.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }
}

impl<T: Element> std::ops::DerefMut for Aligned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`; `self` is borrowed for writing.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}
