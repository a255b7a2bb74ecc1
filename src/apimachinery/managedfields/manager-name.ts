import { isPrint } from '#apimachinery/runtime/quote';

/** Maximum length of a manager's name in bytes; metav1/validation.FieldManagerMaxLength. */
export const maxManagerNameBytes = 128;

/** Returns the manager's name: the request's `fieldManager`, else a prefix of the User-Agent. */
export function managerOrUserAgent(fieldManager: string, userAgent: string): string {
  return fieldManager || prefixFromUserAgent(userAgent);
}

/** Returns the User-Agent up to the first `/`, without unprintable characters and cut after 128 bytes. */
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
