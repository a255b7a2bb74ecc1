import { expect, it } from 'vitest';
import { parseAddrProblem } from './netip.ts';

/** Errors of Go's netip.ParseAddr. */
it.each([
  ['', 'unable to parse IP'],
  ['localhost', 'unable to parse IP'],
  ['%eth0', 'missing IPv6 address'],
  ['1.2.3', 'IPv4 address too short'],
  ['1.2.3.4.5', 'IPv4 address too long'],
  ['1.2.3.', 'IPv4 field must have at least one digit (at ".")'],
  ['1..2.3', 'IPv4 field must have at least one digit (at ".2.3")'],
  ['01.2.3.4', 'IPv4 field has octet with leading zero'],
  ['1.2.3.256', 'IPv4 field has value >255'],
  ['1.2.3.x', 'unexpected character (at "x")'],
  ['http://a.b', 'each colon-separated field must have at least one digit (at "http://a.b")'],
  ['1:2', 'address string too short'],
  ['1:x', 'each colon-separated field must have at least one digit (at "x")'],
  ['1x:2', 'unexpected character, want colon (at "x:2")'],
  ['1:', 'colon must be followed by more characters (at ":")'],
  ['12345::', 'each group must have 4 or less digits (at "12345::")'],
  ['::1::', 'multiple :: in address (at ":")'],
  ['1:2:3:4:5:6:7:8:9', 'trailing garbage after address (at "9")'],
  ['1:2:3:4:5:6:7::8', 'the :: must expand to at least one field of zeros'],
  ['1:2.3.4.5', 'embedded IPv4 address must replace the final 2 fields of the address (at "2.3.4.5")'],
  ['::1:2:3:4:5:6:7:1.2.3.4', 'too many hex fields to fit an embedded IPv4 at the end of the address (at "1.2.3.4")'],
  ['::ffff:1.2.3', 'IPv4 address too short'],
  ['fe80::1%', 'zone must be a non-empty string'],
])('%s: %s', (text, reason) => {
  expect(parseAddrProblem(text)).toBe(`ParseAddr(${JSON.stringify(text)}): ${reason}`);
});
