import { randomUUID } from 'node:crypto';
import { Inject, Injectable, Optional, UseInterceptors } from '@nestjs/common';
import { isNotFound, newBadRequest, newConflict, newInternalError, newInvalid, newServiceUnavailable } from '#apimachinery/api/errors';
import { type KubeObject, parseGroupVersion } from '#apimachinery/meta/types';
import { formatTime } from '#apimachinery/runtime/time';
import { type FieldError, fieldPath, invalid } from '#apimachinery/validation/field';
import { AdmissionInterceptor } from '#apiserver/admission/admission.interceptor';
import { type ServiceAccountClaims, TokenIssuer, type TokenReference } from '#apiserver/authentication/token-issuer';
import { readCreate, respondValue } from '#apiserver/endpoints/handlers/create-request';
import type { ResourceEndpoint } from '#apiserver/endpoints/handlers/resource-endpoint';
import type { RequestContext } from '#apiserver/request/request-context';
import { Stores } from '#apiserver/registry/stores';
import { defaultTokenRequest } from '#kubernetes/apis/authentication/v1/defaults';
import type { BoundObjectReference, TokenRequest } from '#kubernetes/schema/authentication_v1.gen';
import type { Pod } from '#kubernetes/schema/core_v1.gen';

const kind = { group: 'authentication.k8s.io', kind: 'TokenRequest' };
const minExpirationSeconds = 600;
const maxExpirationSeconds = 2 ** 32;
/**
 * Lifetime in seconds that kubelets request. Such a token gets an extended lifetime; its use after the requested one only causes a
 * warning. Upstream: kubernetes/pkg/serviceaccount/claims.go.
 */
const warnOnlyExpirationSeconds = 3607;
const extendedExpirationSeconds = 365 * 24 * 3600;

/** Feature gate that rejects the UID of another account instead of warning about it. Upstream: apiserver/pkg/features. */
const uidValidation = 'TokenRequestServiceAccountUIDValidation';

type Bound = Pick<ServiceAccountClaims['kubernetes.io'], 'node' | 'pod' | 'secret'>;

/** Issues tokens of service accounts. Upstream: kubernetes/pkg/registry/core/serviceaccount/storage/token.go. */
@Injectable()
@UseInterceptors(AdmissionInterceptor)
export class TokenRequestHandler {
  constructor(
    @Inject(Stores) private readonly stores: Stores,
    @Optional() @Inject(TokenIssuer) private readonly issuer?: TokenIssuer,
  ) {}

  async handle(context: RequestContext, endpoint: ResourceEndpoint): Promise<void> {
    const { issuer } = this;
    if (!issuer)
      throw newServiceUnavailable('this server has no key to sign tokens of service accounts with (--service-account-signing-key-file)');
    const { namespace, name } = context.info;
    const { object, request, negotiated } = await readCreate<TokenRequest>(context, endpoint, {
      keepsSystemFields: true,
      defaults: defaultTokenRequest,
    });
    if (object.metadata.name && object.metadata.name !== name) {
      throw newInvalid(kind, name, [
        invalid(fieldPath('metadata').child('name'), object.metadata.name, 'must match the service account name if specified'),
      ]);
    }
    const { object: account } = await endpoint.store.get(namespace, name, '');
    const { uid = '' } = account.metadata;
    const asked = object.metadata.uid || uid;
    const otherUid = `the UID in the token request (${asked}) does not match the UID of the service account (${uid})`;
    if (asked !== uid) {
      if (endpoint.isEnabled(uidValidation)) throw newConflict({ group: kind.group, resource: kind.kind }, name, otherUid);
      (context.auditAnnotations ??= new Map()).set('authentication.k8s.io/token-request-uid-mismatch', otherUid);
      context.warn(`${otherUid} but ${uidValidation} is not enabled. In the future, this will return a conflict error`);
    }
    const spec = (object.spec ??= {});
    if (!spec.audiences?.length) spec.audiences = [...issuer.apiAudiences];
    const issuedAt = Math.floor(Date.now() / 1000);
    object.metadata = { ...object.metadata, name, namespace, uid: asked, creationTimestamp: formatTime(issuedAt * 1000) };
    delete object.status;
    const errors = validateTokenRequest(object);
    if (errors.length > 0) throw newInvalid(kind, '', errors);
    await request.validate('CREATE', object, undefined);

    const bound = spec.boundObjectRef ? await this.#bound(spec.boundObjectRef, namespace, name) : {};
    if (issuer.maxExpirationSeconds !== undefined && (spec.expirationSeconds ?? 0) > issuer.maxExpirationSeconds) {
      context.warn(`requested expiration of ${spec.expirationSeconds} seconds shortened to ${issuer.maxExpirationSeconds} seconds`);
      spec.expirationSeconds = issuer.maxExpirationSeconds;
    }
    const seconds = spec.expirationSeconds ?? 0;
    const extends_ =
      issuer.extendsExpiration &&
      bound.pod !== undefined &&
      seconds === warnOnlyExpirationSeconds &&
      spec.audiences.every((audience) => issuer.apiAudiences.includes(audience));
    const jti = randomUUID();
    const claims: ServiceAccountClaims = {
      aud: spec.audiences,
      iat: issuedAt,
      nbf: issuedAt,
      exp: issuedAt + (extends_ ? Math.min(extendedExpirationSeconds, issuer.maxExtendedSeconds ?? Number.POSITIVE_INFINITY) : seconds),
      jti,
      sub: `system:serviceaccount:${namespace}:${name}`,
      'kubernetes.io': { namespace, ...bound, serviceaccount: { name, uid }, ...(extends_ && { warnafter: issuedAt + seconds }) },
    };
    const token = await issuer.issue(claims).catch((error: Error) => {
      throw newInternalError(`failed to generate token: ${error.message}`);
    });
    (context.auditAnnotations ??= new Map()).set('authentication.kubernetes.io/issued-credential-id', `JTI=${jti}`);
    object.status = { token, expirationTimestamp: formatTime((issuedAt + seconds) * 1000) };
    return respondValue(context, endpoint, 201, object, negotiated);
  }

  /** Returns the claims of the object to which a token is bound. Throws NotFound, BadRequest and Conflict. */
  async #bound(ref: BoundObjectReference, namespace: string, account: string): Promise<Bound> {
    const { group, version } = parseGroupVersion(ref.apiVersion ?? '');
    if (group === '' && ref.kind === 'Pod') {
      const pod = (await this.#find('pods', namespace, ref)) as Pod;
      if ((pod.spec?.serviceAccountName ?? '') !== account) {
        throw newBadRequest(
          `cannot bind token for serviceaccount ${JSON.stringify(account)} to pod running with different serviceaccount name.`,
        );
      }
      checkUid(ref, pod);
      const nodeName = pod.spec?.nodeName;
      return { pod: referenceTo(pod), ...(nodeName && { node: await this.#nodeOf(nodeName) }) };
    }
    if (group === '' && ref.kind === 'Node') return { node: referenceTo(checkUid(ref, await this.#find('nodes', '', ref))) };
    if (group === '' && ref.kind === 'Secret') return { secret: referenceTo(checkUid(ref, await this.#find('secrets', namespace, ref))) };
    throw newBadRequest(`cannot bind token to object of type ${group}/${version}, Kind=${ref.kind ?? ''}`);
  }

  async #find(resource: string, namespace: string, { name = '' }: BoundObjectReference): Promise<KubeObject> {
    if (name === '') throw newBadRequest('Name parameter required.');
    return (await this.stores.of({ group: '', resource }).get(namespace, name, '')).object;
  }

  /** Returns the reference to a node; only its name if the node does not exist. */
  async #nodeOf(name: string): Promise<TokenReference> {
    try {
      return referenceTo((await this.stores.of({ group: '', resource: 'nodes' }).get('', name, '')).object);
    } catch (error) {
      if (isNotFound(error)) return { name };
      throw error;
    }
  }
}

/** Returns the object to which the reference refers. Throws Conflict if the reference has another UID. */
function checkUid<T extends KubeObject>({ kind: kindName = '', name = '', uid }: BoundObjectReference, object: T): T {
  if (!uid || uid === object.metadata.uid) return object;
  throw newConflict(
    { group: '', resource: kindName },
    name,
    `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
  );
}

function referenceTo({ metadata }: KubeObject): TokenReference {
  return { name: metadata.name ?? '', uid: metadata.uid };
}

/** Validates a token request. Upstream: kubernetes/pkg/apis/authentication/validation. */
function validateTokenRequest({ spec }: TokenRequest): FieldError[] {
  const path = fieldPath('spec').child('expirationSeconds');
  const seconds = spec?.expirationSeconds ?? 0;
  const errors: FieldError[] = [];
  if (seconds < minExpirationSeconds) errors.push(invalid(path, seconds, 'may not specify a duration less than 10 minutes'));
  if (seconds > maxExpirationSeconds) errors.push(invalid(path, seconds, 'may not specify a duration larger than 2^32 seconds'));
  return errors;
}
