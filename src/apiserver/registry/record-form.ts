import { Buffer, isUtf8 } from 'node:buffer';
import { groupVersionString, type GroupVersion, type KubeObject } from '#apimachinery/meta/types';

const end = Buffer.from('}\n');

/** Returns the first members of the stored JSON of a built-in kind; items of lists omit them. */
export function recordHead(kind: string, version: GroupVersion): Buffer {
  return Buffer.from(`{"kind":"${kind}","apiVersion":"${groupVersionString(version)}",`);
}

/**
 * Returns a function that throws for bytes that are not the stored JSON of this kind. If the store verifies values, checking
 * the start and the end suffices, because this server encoded the rest; otherwise the JSON is parsed.
 */
export function recordForm(kind: string, version: GroupVersion, isVerified: boolean): (bytes: Buffer) => void {
  const head = recordHead(kind, version);
  return (bytes) => {
    const { length } = bytes;
    const isWhole =
      length > head.length + end.length &&
      head.compare(bytes, 0, head.length) === 0 &&
      bytes[length - 2] === end[0] &&
      bytes[length - 1] === end[1];
    if (!isWhole) throw new Error(`it ${describe(bytes)}; expected ${groupVersionString(version)} ${kind}`);
    if (!isVerified) checkJson(bytes);
  };
}

function checkJson(bytes: Buffer): void {
  if (!isUtf8(bytes)) throw new Error('it is not UTF-8');
  JSON.parse(bytes.toString('latin1'));
}

/** Throws if an object has another kind or group. Custom resources may be stored in any version of their group. */
export function checkKind({ apiVersion, kind }: KubeObject, expected: { readonly group: string; readonly kind: string }): void {
  const isOfGroup = typeof apiVersion === 'string' && apiVersion.startsWith(`${expected.group}/`);
  if (kind !== expected.kind || !isOfGroup)
    throw new Error(`it is a ${apiVersion} ${kind}; expected ${expected.kind} of ${expected.group}`);
}

function describe(bytes: Buffer): string {
  try {
    const { apiVersion, kind } = JSON.parse(bytes.toString()) as Partial<KubeObject>;
    if (typeof apiVersion === 'string' && typeof kind === 'string') return `is a ${apiVersion} ${kind}`;
  } catch {
    // Not JSON.
  }
  return `is not an object (${bytes.length} bytes)`;
}
