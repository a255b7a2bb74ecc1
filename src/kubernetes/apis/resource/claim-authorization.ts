import type { KubeObject } from '#apimachinery/meta/types';
import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import { type FieldError, fieldPath, forbidden, internalError, type Path } from '#apimachinery/validation/field';
import { forbiddenError } from '#apiserver/authorization/authorization.guard';
import type { AuthorizationAttributes, Authorizer } from '#apiserver/authorization/authorizer';
import { nodeOfServiceAccount } from '#apiserver/authentication/service-accounts';
import type { Informers } from '#apiserver/registry/informers';
import type { StoreHooks, WriteRequest } from '#apiserver/registry/write';
import type {
  AllocatedDeviceStatus,
  AllocationResult,
  DeviceRequest,
  ResourceClaim,
  ResourceClaimStatus,
  ResourceClaimTemplate,
} from '#kubernetes/schema/resource_v1.gen';

/** Dependencies of the checks. */
export interface ClaimAuthorizationParts {
  readonly informers: Informers;
  readonly authorizer: Authorizer;
}

const group = 'resource.k8s.io';
const adminNamespaceLabel = 'resource.kubernetes.io/admin-access';

/**
 * Returns the authorization of claims by `group/resource`, for the stores. Admin access to devices needs a namespace that is labelled for
 * it; a change of a claim's allocation or reservations needs permission for the `binding` of claims; a change of its device status needs
 * permission for their `driver`.  Upstream: pkg/registry/resource/utils.go.
 */
export function claimAuthorization(parts: ClaimAuthorizationParts): ReadonlyMap<string, StoreHooks> {
  return new Map<string, StoreHooks>([
    [
      `${group}/resourceclaims`,
      {
        async review(claim: ResourceClaim & KubeObject, old: (ResourceClaim & KubeObject) | undefined, request, found) {
          if (!old) return [...adminErrors(parts, requestsPath(claim.spec?.devices?.requests), request), ...found];
          if (semanticDeepEqual(claim.status, old.status)) return found;
          return [...(await statusErrors(parts, claim.status ?? {}, old.status ?? {}, request)), ...found];
        },
      },
    ],
    [
      `${group}/resourceclaimtemplates`,
      {
        async review(template: ResourceClaimTemplate & KubeObject, old, request, found) {
          return old ? found : [...adminErrors(parts, requestsPath(template.spec?.spec?.devices?.requests), request), ...found];
        },
      },
    ],
  ]);
}

/** Returns the path of the first request for admin access. */
function requestsPath(requests: readonly DeviceRequest[] = []): Path | undefined {
  const at = requests.findIndex(({ exactly }) => exactly?.adminAccess);
  return at < 0 ? undefined : fieldPath('spec', 'devices', 'requests').index(at).child('adminAccess');
}

function resultsPath(allocation: AllocationResult | undefined): Path | undefined {
  const at = (allocation?.devices?.results ?? []).findIndex(({ adminAccess }) => adminAccess);
  return at < 0 ? undefined : fieldPath('status', 'allocation', 'devices', 'results').index(at).child('adminAccess');
}

function adminErrors({ informers }: ClaimAuthorizationParts, path: Path | undefined, { namespace }: WriteRequest): FieldError[] {
  if (!path) return [];
  const found = informers.for<KubeObject>({ group: '', resource: 'namespaces' }).get('', namespace);
  if (!found)
    return [internalError(path, new Error(`could not retrieve namespace to verify admin access: namespaces "${namespace}" not found`))];
  if (found.metadata.labels?.[adminNamespaceLabel] === 'true') return [];
  return [forbidden(path, `admin access to devices requires the \`${adminNamespaceLabel}: true\` label on the containing namespace`)];
}

async function statusErrors(
  parts: ClaimAuthorizationParts,
  status: ResourceClaimStatus,
  old: ResourceClaimStatus,
  request: WriteRequest,
): Promise<FieldError[]> {
  const errors = resultsPath(old.allocation) ? [] : adminErrors(parts, resultsPath(status.allocation), request);
  if (request.isEnabled?.('DRAResourceClaimGranularStatusAuthorization') === false) return errors;
  const problem = await bindingProblem(parts.authorizer, status, old, request);
  if (problem !== undefined) errors.push(forbidden(fieldPath('status', 'allocation'), problem));
  if (!status.allocation) return errors;
  for (const detail of await driverProblems(parts.authorizer, status, old, request))
    errors.push(forbidden(fieldPath('status', 'devices'), detail));
  return errors;
}

async function bindingProblem(
  authorizer: Authorizer,
  status: ResourceClaimStatus,
  old: ResourceClaimStatus,
  request: WriteRequest,
): Promise<string | undefined> {
  if (semanticDeepEqual(status.allocation, old.allocation) && semanticDeepEqual(status.reservedFor, old.reservedFor)) return undefined;
  const verb = request.verb ?? 'update';
  const refusal = await refusalOf(authorizer, attributesOf(request, { verb, subresource: 'binding', namespace: '', name: '' }));
  return (
    refusal &&
    `changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="${verb}" permission: ${refusal}`
  );
}

/** Returns the missing permissions for drivers whose device status changes, in order of the drivers. */
async function driverProblems(
  authorizer: Authorizer,
  status: ResourceClaimStatus,
  old: ResourceClaimStatus,
  request: WriteRequest,
): Promise<string[]> {
  const verb = request.verb ?? 'update';
  const node = nodeOf(status.allocation);
  const isOfNode = !!node && nodeOfServiceAccount(request.user) === node;
  const verbs = [...(isOfNode ? [`associated-node:${verb}`] : []), `arbitrary-node:${verb}`];
  const problems: string[] = [];
  for (const driver of changedDrivers(status.devices, old.devices)) {
    const refusals = [];
    for (const one of verbs) {
      const asked = attributesOf(request, { verb: one, subresource: 'driver', namespace: request.namespace, name: driver });
      const refusal = await refusalOf(authorizer, asked);
      if (refusal === undefined) break;
      refusals.push(refusal);
    }
    if (refusals.length === verbs.length)
      problems.push(
        `changing status.devices requires resource="resourceclaims/driver", verb="[${verbs.join(' ')}]" permission: ${refusals[0]}`,
      );
  }
  return problems;
}

function attributesOf(
  { user, apiVersion = '*' }: WriteRequest,
  what: Pick<AuthorizationAttributes, 'verb' | 'subresource' | 'namespace' | 'name'>,
): AuthorizationAttributes {
  return { ...what, user, apiVersion, isResourceRequest: true, apiGroup: group, resource: 'resourceclaims', path: '' };
}

/** Returns the reason for the denial; undefined if the request is authorized. */
async function refusalOf(authorizer: Authorizer, attributes: AuthorizationAttributes): Promise<string | undefined> {
  const { decision, reason } = await authorizer.authorize(attributes);
  return decision === 'Allow' ? undefined : forbiddenError(attributes, reason).message;
}

/** Returns the sorted drivers of devices whose status was added, changed or removed. */
function changedDrivers(devices: readonly AllocatedDeviceStatus[] = [], before: readonly AllocatedDeviceStatus[] = []): string[] {
  const keyOf = ({ driver, pool, device, shareID = '' }: AllocatedDeviceStatus): string => JSON.stringify([driver, pool, device, shareID]);
  const left = new Map(before.map((device) => [keyOf(device), device]));
  const changed = new Set<string>();
  for (const device of devices) {
    const old = left.get(keyOf(device));
    left.delete(keyOf(device));
    if (!old || !semanticDeepEqual(old, device)) changed.add(device.driver ?? '');
  }
  for (const { driver = '' } of left.values()) changed.add(driver);
  return [...changed].sort();
}

/** Returns the node of an allocation that is bound to one node. */
function nodeOf(allocation: AllocationResult | undefined): string | undefined {
  const terms = allocation?.nodeSelector?.nodeSelectorTerms ?? [];
  const [{ matchExpressions = [], matchFields = [] } = {}] = terms;
  const [field] = matchFields;
  if (terms.length !== 1 || matchExpressions.length > 0 || matchFields.length !== 1) return undefined;
  return field?.key === 'metadata.name' && field.operator === 'In' && field.values?.length === 1 ? field.values[0] : undefined;
}
