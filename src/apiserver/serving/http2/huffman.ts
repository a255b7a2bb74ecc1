import { Buffer } from 'node:buffer';

/**
 * Code length in bits of each byte and of the end of the string: RFC 7541, appendix B. The codes are canonical and follow from the
 * lengths: codes of one length are consecutive in the order of their symbols, and continue from the next shorter length.
 */
// biome-ignore format: sixteen per line, indexed by byte
export const codeLengths: readonly number[] = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
  28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
  6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
  5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
  13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
  7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
  15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
  6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
  20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
  24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
  22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
  21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
  26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
  19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
  20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
  26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
  30,
];

const endOfString = 256;

/*
 * The decoder reads four bits at a time. The shortest code has five bits, so a step completes at most one code. There are 256 inner
 * nodes, one fewer than codes, so that a node fits in a byte. Tables by node and four bits: the next node and the decoded byte (or
 * -1); by node: true if a string may end there.
 */
const { next, emitted, mayEnd } = tables();

function tables(): { readonly next: Uint8Array; readonly emitted: Int16Array; readonly mayEnd: Uint8Array } {
  // A tree with two children for each inner node; a leaf is stored as -(symbol + 1).
  const children: number[] = [0, 0];
  for (const [symbol, { code, length }] of codes().entries()) {
    let node = 0;
    for (let bit = length - 1; bit >= 0; bit -= 1) {
      const side = node * 2 + ((code >>> bit) & 1);
      if (bit === 0) children[side] = -symbol - 1;
      else if (children[side] === 0) {
        children[side] = children.length / 2;
        children.push(0, 0);
      }
      node = children[side] as number;
    }
  }
  const nodes = children.length / 2;
  const next = new Uint8Array(nodes * 16);
  const emitted = new Int16Array(nodes * 16).fill(-1);
  for (let start = 0; start < nodes; start += 1) {
    for (let bits = 0; bits < 16; bits += 1) {
      let node = start;
      for (let bit = 3; bit >= 0; bit -= 1) {
        const child = children[node * 2 + ((bits >>> bit) & 1)] as number;
        node = Math.max(child, 0);
        if (child < 0) emitted[start * 16 + bits] = -child - 1;
      }
      next[start * 16 + bits] = node;
    }
  }
  // A string is padded with fewer than eight ones, a prefix of the end-of-string code.
  const mayEnd = new Uint8Array(nodes);
  for (let node = 0, bits = 0; bits < 8; bits += 1) {
    mayEnd[node] = 1;
    node = children[node * 2 + 1] as number;
  }
  return { next, emitted, mayEnd };
}

/** Returns the code of each byte, and of the end of the string. */
export function codes(): { readonly code: number; readonly length: number }[] {
  const order = codeLengths.map((length, symbol) => ({ length, symbol })).sort((a, b) => a.length - b.length || a.symbol - b.symbol);
  const all: { code: number; length: number }[] = [];
  let code = 0;
  let before = 0;
  for (const { length, symbol } of order) {
    code *= 2 ** (length - before);
    all[symbol] = { code, length };
    code += 1;
    before = length;
  }
  return all;
}

let scratch = Buffer.allocUnsafeSlow(4096);

/** Decodes a string to one character for each byte; undefined if it is malformed. */
export function decodeHuffman(bytes: Uint8Array, start: number, end: number): string | undefined {
  // The shortest codes have five bits.
  const most = Math.ceil(((end - start) * 8) / 5);
  if (scratch.length < most) scratch = Buffer.allocUnsafeSlow(most);
  const out = scratch;
  let length = 0;
  let node = 0;
  for (let at = start; at < end; at += 1) {
    const octet = bytes[at] as number;
    const high = node * 16 + (octet >>> 4);
    const first = emitted[high] as number;
    if (first >= 0) {
      if (first === endOfString) return undefined;
      out[length++] = first;
    }
    const low = (next[high] as number) * 16 + (octet & 15);
    const second = emitted[low] as number;
    if (second >= 0) {
      if (second === endOfString) return undefined;
      out[length++] = second;
    }
    node = next[low] as number;
  }
  return mayEnd[node] ? out.toString('latin1', 0, length) : undefined;
}
