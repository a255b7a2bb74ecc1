import { Buffer } from 'node:buffer';
import { type FieldError, fieldPath, forbidden, invalid, type Path, required } from '#apimachinery/validation/field';
import type { GroupResource } from '#apimachinery/meta/types';
import { aesCbc, aesGcm } from '#apiserver/storage/value/aes';
import { secretbox } from '#apiserver/storage/value/secretbox';
import { identity, type Transformer } from '#apiserver/storage/value/transformer';
import { FieldReader, parseStructured } from './structured-file.ts';

/** A key service on a Unix socket. */
export interface KmsConfiguration {
  readonly name: string;
  /** Socket, as in `unix:///run/kms.sock`. */
  readonly endpoint: string;
  readonly timeoutMs: number;
}

/** A set of resources with its providers. The first matching rule applies; its first provider encrypts writes. */
export interface EncryptionRule {
  readonly resources: readonly string[];
  readonly providers: readonly (Transformer | KmsConfiguration)[];
}

interface ProviderKind {
  readonly keyBytes: readonly number[];
  readonly make: (name: string, key: Buffer) => Transformer;
}

/** Upstream: apiserver/pkg/apis/apiserver/v1/defaults.go. */
const kmsTimeoutMs = 3_000;

const withoutApi = new Set(['apiserveripinfo', 'serviceipallocations', 'servicenodeportallocations']);

const providers: Readonly<Record<'aesgcm' | 'aescbc' | 'secretbox', ProviderKind>> = {
  aesgcm: { keyBytes: [16, 24, 32], make: aesGcm },
  aescbc: { keyBytes: [16, 24, 32], make: aesCbc },
  secretbox: { keyBytes: [32], make: secretbox },
};

/**
 * Parses the file of `--encryption-provider-config`, of kind EncryptionConfiguration. Throws with all problems, one per line, never with a
 * key. Upstream: apiserver/pkg/apis/apiserver/validation/validation_encryption.go.
 */
export function parseEncryptionConfiguration(text: string): EncryptionRule[] {
  const errors: FieldError[] = [];
  const root = new FieldReader(parseStructured(text, 'apiserver.config.k8s.io', 'EncryptionConfiguration', ['v1']), undefined, errors);
  const readers = root.objects('resources');
  if (readers.length === 0) errors.push(required(root.at('resources'), 'at least one resources is required'));
  const kmsNames = new Set<string>();
  const rules = readers.map((reader) => {
    const resources = reader.texts('resources');
    if (resources.length === 0)
      errors.push(required(reader.at('resources'), `at least one ${reader.at('resources').toString()} is required`));
    checkResources(resources, reader.at('resources'), errors);
    const list = reader.objects('providers');
    if (list.length === 0) errors.push(required(reader.at('providers'), `at least one ${reader.at('providers').toString()} is required`));
    const read = list.flatMap((provider) => readProvider(provider, kmsNames, errors));
    reader.done();
    return { resources, providers: read };
  });
  root.done();
  checkMasked(rules, errors);
  if (errors.length > 0) throw new Error(errors.map(String).join('\n'));
  return rules;
}

function checkResources(resources: readonly string[], path: Path, errors: FieldError[]): void {
  const parsed = resources.map(parseResource);
  if (new Set(resources).size < resources.length)
    errors.push(invalid(path, resources, 'the same resource cannot be specified multiple times'));
  const isMasked = parsed.some(({ group, resource }, i) =>
    parsed.some((other, k) => k !== i && resource === '*' && other.resource !== '*' && (group === '*' || group === other.group)),
  );
  const isMaskedByAll = resources.includes('*.*') && resources.some((one) => one !== '*.*');
  if (isMasked || isMaskedByAll)
    errors.push(
      invalid(
        path,
        resources,
        "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked",
      ),
    );
  for (const [i, resource] of resources.entries()) {
    const problem = nameProblem(resource);
    if (problem !== undefined) errors.push(invalid(path.index(i), resource, problem));
  }
}

function nameProblem(name: string): string | undefined {
  const { group, resource } = parseResource(name);
  if (name !== name.toLowerCase()) return 'resource name should not contain capital letters';
  if (name === '*') return "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources";
  if (withoutApi.has(name)) return 'resources which do not have REST API/s cannot be encrypted';
  if (group === 'events.k8s.io')
    return "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file";
  if (group === 'extensions') return "'extensions' group has been removed and cannot be used for encryption";
  return group === '*' && resource !== '*' ? 'encrypting the same resource across groups is not supported' : undefined;
}

function parseResource(name: string): GroupResource {
  const [resource = '', ...group] = name.split('.');
  return { resource, group: group.join('.') };
}

/** Reports resources that an earlier rule masks. */
function checkMasked(rules: readonly EncryptionRule[], errors: FieldError[]): void {
  const earlier = new Set<string>();
  for (const [i, { resources }] of rules.entries()) {
    for (const [k, name] of resources.entries()) {
      const masking = [`*.${parseResource(name).group}`, '*.*'].find((one) => earlier.has(one));
      if (masking === undefined) continue;
      const at = fieldPath('resources').index(i).child('resources').index(k);
      errors.push(invalid(at, name, `resource ${JSON.stringify(name)} is masked by earlier rule ${JSON.stringify(masking)}`));
    }
    for (const name of resources) earlier.add(name);
  }
}

function readProvider(reader: FieldReader, kmsNames: Set<string>, errors: FieldError[]): (Transformer | KmsConfiguration)[] {
  const path = reader.path as Path;
  const present = [...Object.keys(providers), 'identity', 'kms'].filter((name) => reader.has(name));
  if (present.length === 0)
    errors.push(required(path, 'provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity'));
  if (present.length > 1)
    errors.push(invalid(path, present, 'more than one provider specified in a single element, should split into different list elements'));
  const read: (Transformer | KmsConfiguration)[] = Object.entries(providers).flatMap(([name, kind]) =>
    reader.has(name) ? readKeys(reader.object(name), kind, errors) : [],
  );
  if (reader.has('kms')) read.push(readKms(reader.object('kms'), kmsNames, errors));
  if (reader.has('identity')) {
    reader.object('identity').done();
    read.push(identity);
  }
  reader.done();
  return read;
}

function readKms(reader: FieldReader, names: Set<string>, errors: FieldError[]): KmsConfiguration {
  const name = reader.requiredText('name', 'name is a mandatory field for a provider');
  if (name.includes(':')) errors.push(invalid(reader.at('name'), name, `invalid KMS provider name ${name}, must not contain ':'`));
  if (names.has(name)) errors.push(invalid(reader.at('name'), name, `duplicate KMS provider name ${name}, names must be unique`));
  names.add(name);
  const timeoutMs = reader.duration('timeout') ?? kmsTimeoutMs;
  if (timeoutMs <= 0) errors.push(invalid(reader.at('timeout'), `${timeoutMs}ms`, 'timeout should be a positive value'));
  const endpoint = reader.text('endpoint');
  const problem = endpointProblem(endpoint);
  if (problem !== undefined) errors.push(invalid(reader.at('endpoint'), endpoint, problem));
  if (reader.has('cachesize')) errors.push(invalid(reader.at('cachesize'), reader.number('cachesize'), 'cachesize is not supported in v2'));
  const version = reader.text('apiVersion') || 'v1';
  if (version === 'v1')
    errors.push(
      forbidden(
        reader.at('apiVersion'),
        'KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead (apiVersion: v2)',
      ),
    );
  else if (version !== 'v2')
    errors.push(
      invalid(reader.at('apiVersion'), version, 'unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported'),
    );
  reader.done();
  return { name, endpoint, timeoutMs };
}

function endpointProblem(endpoint: string): string | undefined {
  if (endpoint === '') return 'endpoint is a mandatory field for a kms';
  if (!URL.canParse(endpoint)) return 'invalid endpoint for kms provider, error: it is not a URL';
  const scheme = new URL(endpoint).protocol.slice(0, -1);
  return scheme === 'unix' ? undefined : `unsupported scheme ${JSON.stringify(scheme)} for KMS provider, only unix is supported`;
}

function readKeys(reader: FieldReader, { keyBytes, make }: ProviderKind, errors: FieldError[]): Transformer[] {
  const keys = reader.objects('keys');
  if (keys.length === 0) errors.push(required(reader.at('keys'), 'at least one keys is required'));
  const transformers = keys.flatMap((key) => {
    const name = key.requiredText('name', 'name is a mandatory field for a key');
    const secret = key.requiredText('secret', 'secret is a mandatory field for a key');
    key.done();
    const bytes = Buffer.from(secret, 'base64');
    if (secret !== '' && bytes.toString('base64') !== secret)
      errors.push(invalid(key.at('secret'), 'REDACTED', 'secrets must be base64 encoded'));
    else if (secret !== '' && !keyBytes.includes(bytes.length))
      errors.push(
        invalid(
          key.at('secret'),
          'REDACTED',
          `secret is not of the expected length, got ${bytes.length}, expected one of [${keyBytes.join(' ')}]`,
        ),
      );
    else if (name !== '' && secret !== '') return make(name, bytes);
    return [];
  });
  reader.done();
  return transformers;
}

/**
 * Returns the providers of a resource: those of all rules that name the resource, else of those that name its group, else of those that
 * match all resources.
 */
export function providersFor(
  rules: readonly EncryptionRule[],
  { group, resource }: GroupResource,
): EncryptionRule['providers'] | undefined {
  const names = [group === '' ? resource : `${resource}.${group}`, `*.${group}`, '*.*'];
  const named = names.find((name) => rules.some(({ resources }) => resources.includes(name)));
  return named === undefined ? undefined : rules.filter(({ resources }) => resources.includes(named)).flatMap(({ providers: all }) => all);
}
