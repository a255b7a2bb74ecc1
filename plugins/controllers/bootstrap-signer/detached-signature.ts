import { Buffer } from 'node:buffer';
import { createHmac } from 'node:crypto';

const base64url = (text: string): string => Buffer.from(text).toString('base64url');

/**
 * Returns the JWS signature of the content by HS256, with detached content (RFC 7515, appendix F): `header..signature`. Upstream:
 * k8s.io/cluster-bootstrap/token/jws.
 */
export function detachedSignature(content: string, keyId: string, key: string): string {
  const header = base64url(JSON.stringify({ alg: 'HS256', kid: keyId }));
  const signature = createHmac('sha256', key)
    .update(`${header}.${base64url(content)}`)
    .digest('base64url');
  return `${header}..${signature}`;
}
