import {
  type AuthorizationAttributes,
  type AuthorizationResult,
  type Authorizer,
  AuthorizerPlugin,
  Configuration,
  inject,
} from 'kubenest/sdk';
import { IsArray, IsString } from 'kubenest/sdk/configuration';

export class ProtectedNamespacesConfiguration {
  @IsArray()
  @IsString({ each: true })
  namespaces: string[] = [];
}

const reading = ['get', 'list', 'watch'];

/** Denies changes in protected namespaces to everyone except system:masters, regardless of RBAC. */
@AuthorizerPlugin({ name: 'ProtectedNamespaces', configuration: ProtectedNamespacesConfiguration })
export class ProtectedNamespaces implements Authorizer {
  readonly name = 'ProtectedNamespaces';
  readonly #namespaces: ReadonlySet<string>;

  constructor(@inject(Configuration) { namespaces }: ProtectedNamespacesConfiguration) {
    this.#namespaces = new Set(namespaces);
  }

  authorize({ namespace, verb }: AuthorizationAttributes): AuthorizationResult {
    if (!this.#namespaces.has(namespace) || reading.includes(verb)) return { decision: 'NoOpinion', reason: '' };
    return { decision: 'Deny', reason: `namespace ${namespace} is protected` };
  }
}
