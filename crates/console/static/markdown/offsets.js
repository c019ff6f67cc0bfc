// Offsets of the API count characters (Unicode scalar values); strings here count UTF-16 units.

// Returns a function from characters to units of the text.
export function unitsOf(text) {
  if (!/[\ud800-\udbff]/.test(text)) return (chars) => Math.min(chars, text.length);
  const pairs = []; // Characters before each character outside the basic plane.
  let chars = 0;
  for (const char of text) {
    if (char.length === 2) pairs.push(chars);
    chars += 1;
  }
  return (wanted) => {
    let [low, high] = [0, pairs.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pairs[middle] < wanted) low = middle + 1;
      else high = middle;
    }
    return Math.min(wanted + low, text.length);
  };
}
