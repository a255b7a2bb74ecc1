import { Buffer } from 'node:buffer';
import { duplicate, type FieldError, forbidden, invalid, type Path, required } from '#apimachinery/validation/field';
import type { GroupResource } from '#apimachinery/meta/types';
import { aesCbc, aesGcm } from '#apiserver/storage/value/aes';
import { secretbox } from '#apiserver/storage/value/secretbox';
import { identity, type Transformer, TransformerChain } from '#apiserver/storage/value/transformer';
import { FieldReader, parseStructured } from './structured-file.ts';

/** Which resources are encrypted, the first that fits; and by what. */
export interface EncryptionRule {
  readonly resources: readonly string[];
  readonly transformers: TransformerChain;
}

interface ProviderKind {
  readonly keyBytes: readonly number[];
  readonly make: (name: string, key: Buffer) => Transformer;
}

const providers: Readonly<Record<'aesgcm' | 'aescbc' | 'secretbox', ProviderKind>> = {
  aesgcm: { keyBytes: [16, 24, 32], make: aesGcm },
  aescbc: { keyBytes: [16, 24, 32], make: aesCbc },
  secretbox: { keyBytes: [32], make: secretbox },
};

/**
 * `--encryption-provider-config`, of kind EncryptionConfiguration. Throws with all that is wrong, one line each; keys are never
 * told. Upstream: apiserver/pkg/apis/apiserver/validation/validation_encryption.go.
 */
export function parseEncryptionConfiguration(text: string): EncryptionRule[] {
  const errors: FieldError[] = [];
  const root = new FieldReader(parseStructured(text, 'apiserver.config.k8s.io', 'EncryptionConfiguration', ['v1']), undefined, errors);
  const readers = root.objects('resources');
  if (readers.length === 0) errors.push(required(root.at('resources'), 'at least one resources is required'));
  const rules = readers.map((reader) => {
    const resources = reader.texts('resources');
    if (resources.length === 0)
      errors.push(required(reader.at('resources'), `at least one ${reader.at('resources').toString()} is required`));
    checkResources(resources, reader.at('resources'), errors);
    const list = reader.objects('providers');
    if (list.length === 0) errors.push(required(reader.at('providers'), `at least one ${reader.at('providers').toString()} is required`));
    const transformers = list.flatMap((provider) => readProvider(provider, errors));
    reader.done();
    return { resources, transformers: new TransformerChain(transformers) };
  });
  root.done();
  if (errors.length > 0) throw new Error(errors.map(String).join('\n'));
  return rules;
}

function checkResources(resources: readonly string[], path: Path, errors: FieldError[]): void {
  for (const [i, resource] of resources.entries()) {
    const at = path.index(i);
    const [name = '', ...group] = resource.split('.');
    if (resource !== resource.toLowerCase()) errors.push(invalid(at, resource, 'resource name should not contain capital letters'));
    else if (resource === '*')
      errors.push(invalid(at, resource, "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources"));
    else if (group.join('.') === '*' && name !== '*')
      errors.push(invalid(at, resource, 'encrypting the same resource across groups is not supported'));
    else if (group.join('.') === 'events.k8s.io')
      errors.push(
        invalid(
          at,
          resource,
          "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file",
        ),
      );
    if (resources.indexOf(resource) < i) errors.push(duplicate(at, resource));
  }
}

function readProvider(reader: FieldReader, errors: FieldError[]): Transformer[] {
  if (reader.has('kms')) errors.push(forbidden(reader.at('kms'), 'KMS providers are not implemented yet'));
  const present = [...Object.keys(providers), 'identity', 'kms'].filter((name) => reader.has(name));
  if (present.length === 0)
    errors.push(
      required(reader.path as Path, 'provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity'),
    );
  if (present.length > 1)
    errors.push(
      invalid(
        reader.path as Path,
        present,
        'more than one provider specified in a single element, should split into different list elements',
      ),
    );
  const transformers = Object.entries(providers).flatMap(([name, kind]) =>
    reader.has(name) ? readKeys(reader.object(name), kind, errors) : [],
  );
  if (reader.has('identity')) reader.object('identity').done();
  if (!reader.has('kms')) reader.done();
  return present.includes('identity') ? [...transformers, identity] : transformers;
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

/** The rule for a resource: by its name, then by all of its group, then by all. The order of the rules counts among those. */
export function ruleFor(rules: readonly EncryptionRule[], { group, resource }: GroupResource): TransformerChain | undefined {
  const names = [group === '' ? resource : `${resource}.${group}`, `*.${group}`, '*.*'];
  return rules.find(({ resources }) => names.some((name) => resources.includes(name)))?.transformers;
}
