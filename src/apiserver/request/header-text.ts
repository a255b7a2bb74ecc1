import { Buffer } from 'node:buffer';

const beyondAscii = /[\x80-\xff]/;

/** Returns the text of a header value: Node reads its bytes as latin1, clients send UTF-8. */
export function headerText(value: string): string {
  return beyondAscii.test(value) ? Buffer.from(value, 'latin1').toString('utf8') : value;
}
