import { Flag } from './flag.ts';

/** Who clients are. Upstream: kubernetes/pkg/kubeapiserver/options/authentication.go. */
export class AuthenticationOptions {
  @Flag('anonymous-auth')
  anonymousAuth = true;

  /** Empty: an authority of the server's own, which signs the administrator's certificate. */
  @Flag('client-ca-file')
  clientCaFile = '';

  @Flag('token-auth-file')
  tokenAuthFile = '';
}
