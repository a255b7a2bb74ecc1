/** Short strings with a meaning in YAML, which are combined at random; most results are invalid in different ways. */

const parts = [
  ...[
    'a',
    'b',
    '1',
    '0x1f',
    '0b1',
    '1_0',
    '1.5',
    '.5',
    '1e6: ',
    'yes',
    'null',
    '~',
    '2020-01-01',
    'aGk=',
    'é',
    '😀',
    '\u2028',
    '\u0085',
    '\ufeff',
    '\x01',
  ],
  ...[': ', ':', '- ', '-', '? ', '[', ']', '{', '}', ', ', ',', '[]: ', '{}', "''", '""', '"', "'", '"q": ', '@', '`', '%'],
  ...['\n', '\n  ', '\n    ', '\r\n', '\r', ' ', '\t', '#', ' #c\n', '---\n', '...\n', '%YAML 1.1\n', '%TAG ! x\n'],
  ...['&x ', '*x', '<<: *x', '<<', '!!str ', '!!int ', '!!float ', '!!binary ', '! ', '!foo ', '!<a> ', '!%41 '],
  ...['|', '>', '|-\n', '>+\n', '|2\n   ', '>\n x\n\n y\n', '\\', '\\n', '\\x41', '\\\n', 'x: &x {p: 1, q: 2}\n', 'k: v\n', 'k: w\n'],
];

/** Returns `count` texts, always the same for a seed. */
export function yamlTexts(seed: number, count: number): string[] {
  let state = seed;
  const below = (limit: number): number => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * limit);
  };
  return Array.from({ length: count }, () => {
    const picked = Array.from({ length: 1 + below(14) }, () => parts[below(parts.length)]!);
    return picked.join('');
  });
}
