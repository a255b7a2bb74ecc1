/** The errors of Go's netip.ParseAddr. */
import { quote } from './quote.ts';

/** Returns the error of an address that Go's netip does not parse; it starts with `ParseAddr("…"): `. */
export function parseAddrProblem(text: string): string {
  return `ParseAddr(${quote(text)}): ${reasonOf(text)}`;
}

function reasonOf(text: string): string {
  const separator = /[.:%]/.exec(text)?.[0];
  if (separator === '.') return reasonOfIPv4(text);
  if (separator === ':') return reasonOfIPv6(text);
  return separator === '%' ? 'missing IPv6 address' : 'unable to parse IP';
}

const at = (reason: string, rest: string): string => `${reason} (at ${quote(rest)})`;

/** Upstream: netip.parseIPv4Fields. */
function reasonOfIPv4(text: string): string {
  let value = 0;
  let digits = 0;
  let fields = 0;
  for (let i = 0; i < text.length; i++) {
    const character = text[i]!;
    if (character >= '0' && character <= '9') {
      if (digits === 1 && value === 0) return 'IPv4 field has octet with leading zero';
      value = value * 10 + Number(character);
      digits += 1;
      if (value > 255) return 'IPv4 field has value >255';
    } else if (character !== '.') return at('unexpected character', text.slice(i));
    else {
      if (i === 0 || i === text.length - 1 || text[i - 1] === '.') return at('IPv4 field must have at least one digit', text.slice(i));
      if (fields === 3) return 'IPv4 address too long';
      fields += 1;
      value = 0;
      digits = 0;
    }
  }
  return 'IPv4 address too short';
}

/** Upstream: netip.parseIPv6. `bytes` counts those of the address that are read. */
function reasonOfIPv6(text: string): string {
  const percent = text.indexOf('%');
  if (percent === text.length - 1) return 'zone must be a non-empty string';
  let rest = percent < 0 ? text : text.slice(0, percent);
  let hasEllipsis = rest.startsWith('::');
  if (hasEllipsis) rest = rest.slice(2);
  let bytes = 0;
  while (bytes < 16) {
    const digits = /^[0-9a-fA-F]*/.exec(rest)![0].length;
    if (digits > 4) return at('each group must have 4 or less digits', rest);
    if (digits === 0) return at('each colon-separated field must have at least one digit', rest);
    if (rest[digits] === '.') {
      if (!hasEllipsis && bytes !== 12) return at('embedded IPv4 address must replace the final 2 fields of the address', rest);
      if (bytes > 12) return at('too many hex fields to fit an embedded IPv4 at the end of the address', rest);
      return reasonOfIPv4(rest);
    }
    bytes += 2;
    rest = rest.slice(digits);
    if (rest === '') break;
    if (!rest.startsWith(':')) return at('unexpected character, want colon', rest);
    if (rest === ':') return at('colon must be followed by more characters', rest);
    rest = rest.slice(1);
    if (rest.startsWith(':')) {
      if (hasEllipsis) return at('multiple :: in address', rest);
      hasEllipsis = true;
      rest = rest.slice(1);
      if (rest === '') break;
    }
  }
  if (rest !== '') return at('trailing garbage after address', rest);
  return bytes < 16 ? 'address string too short' : 'the :: must expand to at least one field of zeros';
}
