/** Upstream: golang.org/x/net/http/httpguts (ValidHostHeader). */
const validHost = /^[\w!$%&()*+,\-.:;=['\]~]*$/;
const absolute = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

/** True if a Host field, or :authority, may have this value. */
export function isValidHost(host: string): boolean {
  return validHost.test(host);
}

/** The path and query of a request target: those of one in absolute form are served as if the rest were not there (RFC 9112, 3.2.2). */
export function originForm(target: string): string {
  return target.startsWith('/') ? target : target.replace(absolute, '');
}
