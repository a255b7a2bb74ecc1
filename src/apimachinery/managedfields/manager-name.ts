import { isPrint } from '#apimachinery/runtime/quote';

/** The most bytes that a manager's name may have; metav1/validation.FieldManagerMaxLength. */
export const maxManagerNameBytes = 128;

/** Who owns what a request writes: `fieldManager` of its options, else what the User-Agent says. */
export function managerOrUserAgent(fieldManager: string, userAgent: string): string {
  return fieldManager || prefixFromUserAgent(userAgent);
}

/** What a User-Agent has before its first `/`: without what cannot be printed, cut after 128 bytes. */
export function prefixFromUserAgent(userAgent: string): string {
  let out = '';
  let bytes = 0;
  for (const char of userAgent.split('/', 1)[0]!) {
    if (!isPrint(char)) continue;
    const size = Buffer.byteLength(char);
    if (bytes + size > maxManagerNameBytes) break;
    bytes += size;
    out += char;
  }
  return out;
}
