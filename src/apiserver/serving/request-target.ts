/** Valid Host values. Upstream: golang.org/x/net/http/httpguts (ValidHostHeader). */
const validHost = /^[\w!$%&()*+,\-.:;=['\]~]*$/;
const absolute = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

/** True if the value is valid for Host or :authority. */
export function isValidHost(host: string): boolean {
  return validHost.test(host);
}

/** Returns the path and query of a request target. An absolute target is served by its path and query (RFC 9112, 3.2.2). */
export function originForm(target: string): string {
  return target.startsWith('/') ? target : target.replace(absolute, '');
}
