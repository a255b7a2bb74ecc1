import { randomUUID } from 'node:crypto';
import { AdmissionPlugin, type Attributes, Client, forbidden, type Informer, Informers, inject, quote } from 'kubenest/sdk';
import type { ServiceAccount } from 'kubenest/kinds';
import { startSteps, type Steps } from '#sdk/internal';
import { lookupProblem } from './live-lookup.ts';
import {
  type Container,
  type ContainerSort,
  containersOf,
  type Pod,
  type PodSpec,
  refersToSecrets,
  type Volume,
} from '../common/pod-walker.ts';

const defaultName = 'default';
const volumePrefix = 'kube-api-access-';
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';
const tokenSeconds = 3607;
const mirrorAnnotation = 'kubernetes.io/config.mirror';
const mountableAnnotation = 'kubernetes.io/enforce-mountable-secrets';
/** Number of containers between two yields. */
const stepContainers = 512;
/** Retries for the `default` account, which a controller creates shortly after the namespace. */
const patience = { attempts: 10, waitMs: 150 };

/**
 * Sets a pod's service account, token volume and pull secrets, and restricts secrets to those of the account if it requires
 * that. Upstream: kubernetes/plugin/pkg/admission/serviceaccount/admission.go.
 */
@AdmissionPlugin({
  name: 'ServiceAccount',
  match: [
    { groups: [''], resources: ['pods'], operations: ['CREATE'] },
    { groups: [''], resources: ['pods'], subresources: ['ephemeralcontainers'], operations: ['UPDATE'] },
  ],
})
export class ServiceAccountAdmission {
  readonly #accounts: Informer<ServiceAccount>;

  constructor(
    @inject(Informers) informers: Informers,
    @inject(Client) private readonly client: Client,
  ) {
    this.#accounts = informers.for({ group: '', resource: 'serviceaccounts' });
  }

  admit(request: Attributes<Pod>): void | Promise<void> {
    if (request.operation !== 'CREATE') return;
    const { metadata, spec } = request.object;
    // Mirror pods are not mutated, and they are validated before other plugins run.
    if (metadata.annotations?.[mirrorAnnotation] !== undefined) return this.validate(request);
    spec.serviceAccountName ||= defaultName;
    const account = this.#accounts.get(request.namespace, spec.serviceAccountName);
    if (account) return startSteps(furnish(spec, account));
    return this.#find(request, spec.serviceAccountName).then((found) => startSteps(furnish(spec, found)));
  }

  validate(request: Attributes<Pod>): void | Promise<void> {
    const { metadata, spec } = request.object;
    if (request.operation === 'CREATE' && metadata.annotations?.[mirrorAnnotation] !== undefined) return checkMirror(request, spec);
    if (!spec.serviceAccountName)
      throw forbidden(request, `no service account specified for pod ${request.namespace}/${metadata.name ?? ''}`);
    const check = (account: ServiceAccount): void => {
      if (!/^(1|t|T|true|TRUE|True)$/.test(account.metadata.annotations?.[mountableAnnotation] ?? '')) return;
      const isNew = request.operation === 'CREATE';
      const problem = isNew ? wrongReference(spec, account) : wrongEnvironment(spec, account, (sort) => sort === 'ephemeral container');
      // Upstream returns a plain error for ephemeral containers.
      if (problem) throw isNew ? forbidden(request, problem) : new Error(problem);
    };
    const account = this.#accounts.get(request.namespace, spec.serviceAccountName);
    return account ? check(account) : this.#find(request, spec.serviceAccountName).then(check);
  }

  /** Reads an account from the store, which the informer may lag behind; retries for the `default` account. */
  async #find(request: Attributes, name: string): Promise<ServiceAccount> {
    const lookingUp = `error looking up service account ${request.namespace}/${name}`;
    const problem = lookupProblem(name);
    if (problem !== undefined) throw forbidden(request, `${lookingUp}: ${problem}`);
    const attempts = name === defaultName ? patience.attempts : 1;
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const account = await this.client.get<ServiceAccount>(
        { group: '', version: 'v1', resource: 'serviceaccounts' },
        request.namespace,
        name,
      );
      if (account) return account;
      if (attempt + 1 < attempts) await new Promise((resolve) => setTimeout(resolve, patience.waitMs));
    }
    throw forbidden(request, `${lookingUp}: serviceaccount ${quote(name)} not found`);
  }
}

function* furnish(spec: PodSpec, account: ServiceAccount): Steps<void> {
  spec.serviceAccount = spec.serviceAccountName as string;
  if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true) yield* mountToken(spec);
  if (!spec.imagePullSecrets?.length && account.imagePullSecrets?.length)
    spec.imagePullSecrets = account.imagePullSecrets.map(({ name = '' }) => ({ name }));
}

/** Mounts the token. The pod has not been validated, so volumes may be unnamed. */
function* mountToken(spec: PodSpec): Steps<void> {
  const present = spec.volumes?.find(({ name: one = '' }) => one.startsWith(volumePrefix))?.name;
  const name = present ?? volumePrefix + randomSuffix();
  let isNeeded = false;
  let count = 0;
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    if (++count % stepContainers === 0) yield;
    if (container.volumeMounts?.some((mount) => mount.mountPath === mountPath)) continue;
    (container.volumeMounts ??= []).push({ name, readOnly: true, mountPath });
    isNeeded = true;
  }
  if (present === undefined && isNeeded) (spec.volumes ??= []).push(tokenVolume(name));
}

/** Returns a projected volume with the token, the cluster's CA and the namespace. */
function tokenVolume(name: string): Volume {
  return {
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: tokenSeconds, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
      ],
      defaultMode: 420,
    },
  };
}

const letters = 'bcdfghjklmnpqrstvwxz2456789';

function randomSuffix(): string {
  const random = randomUUID();
  return Array.from(
    { length: 5 },
    (_, at) => letters[Number.parseInt(random.slice(at, at + 3).replace('-', '7'), 16) % letters.length],
  ).join('');
}

function checkMirror(request: Attributes, spec: PodSpec): void {
  if (spec.serviceAccountName) throw forbidden(request, 'a mirror pod may not reference service accounts');
  if (refersToSecrets(spec)) throw forbidden(request, 'a mirror pod may not reference secrets');
  if (spec.volumes?.some(({ projected }) => projected?.sources?.some(({ serviceAccountToken }) => serviceAccountToken))) {
    throw forbidden(request, 'a mirror pod may not use ServiceAccountToken volume projections');
  }
}

function namesOf(references: readonly { readonly name?: string }[] = []): ReadonlySet<string> {
  return new Set(references.map(({ name = '' }) => name));
}

/** Returns the first reference to a secret that the account does not list; undefined if there is none. */
function wrongReference(spec: PodSpec, account: ServiceAccount): string | undefined {
  const allowed = namesOf(account.secrets);
  for (const { secret } of spec.volumes ?? []) {
    if (secret && !allowed.has(secret.secretName ?? '')) {
      return `volume with secret.secretName="${secret.secretName ?? ''}" is not allowed because service account ${account.metadata.name} does not reference that secret`;
    }
  }
  const inContainers = wrongEnvironment(spec, account, (sort) => sort !== 'ephemeral container');
  if (inContainers) return inContainers;
  const pull = namesOf(account.imagePullSecrets);
  const index = spec.imagePullSecrets?.findIndex(({ name = '' }) => !pull.has(name)) ?? -1;
  if (index < 0) return undefined;
  return `imagePullSecrets[${index}].name="${spec.imagePullSecrets?.[index]?.name ?? ''}" is not allowed because service account ${account.metadata.name} does not reference that imagePullSecret`;
}

function wrongEnvironment(spec: PodSpec, account: ServiceAccount, concerns: (sort: ContainerSort) => boolean): string | undefined {
  const allowed = namesOf(account.secrets);
  for (const { sort, container } of containersOf(spec)) {
    const problem = concerns(sort) ? wrongSecret(sort, container, allowed) : undefined;
    if (problem) return `${problem} is not allowed because service account ${account.metadata.name} does not reference that secret`;
  }
  return undefined;
}

function wrongSecret(sort: ContainerSort, { name, env, envFrom }: Container, allowed: ReadonlySet<string>): string | undefined {
  const variable = env?.find(({ valueFrom }) => valueFrom?.secretKeyRef && !allowed.has(valueFrom.secretKeyRef.name ?? ''));
  if (variable)
    return `${sort} ${name} with envVar ${variable.name} referencing secret.secretName="${variable.valueFrom?.secretKeyRef?.name ?? ''}"`;
  const source = envFrom?.find(({ secretRef }) => secretRef && !allowed.has(secretRef.name ?? ''));
  return source && `${sort} ${name} with envFrom referencing secret.secretName="${source.secretRef?.name ?? ''}"`;
}
