import { newConflict } from '#apimachinery/api/errors';
import type { DeleteOptions, ObjectMeta } from '#apimachinery/meta/types';
import { nameIsDNSLabel } from '#apimachinery/validation/names';
import { defineResource } from '#apiserver/registry/resource-definition';
import type { Strategy } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { stringColumn } from '#kubernetes/apis/columns';
import {
  validateNamespace,
  validateNamespaceFinalizeUpdate,
  validateNamespaceStatusUpdate,
  validateNamespaceUpdate,
} from '#kubernetes/apis/core/validation/namespace';
import { keepField, statusSubresource } from '#kubernetes/apis/strategy';
import type { Namespace } from '#kubernetes/schema/core_v1.gen';
import { defaultNamespace } from './defaults.ts';

/** Labels a namespace with its name, for selectors. */
function labelWithName(metadata: ObjectMeta, name: string): void {
  (metadata.labels ??= {})['kubernetes.io/metadata.name'] = name;
}

/** Upstream: pkg/registry/core/namespace/storage. */
function checkNamespacePreconditions(metadata: ObjectMeta, preconditions: DeleteOptions['preconditions']): void {
  for (const [field, word] of [
    ['uid', 'UID'],
    ['resourceVersion', 'ResourceVersion'],
  ] as const) {
    const wanted = preconditions?.[field];
    if (wanted === undefined || wanted === metadata[field]) continue;
    const detail = `Precondition failed: ${word} in precondition: ${wanted}, ${word} in object meta: ${metadata[field]}`;
    throw newConflict({ group: '', resource: 'namespaces' }, metadata.name ?? '', detail);
  }
}

const namespaceStrategy: Strategy<Namespace> = {
  resetFields: [['status']],
  returnsDeletedObject: 'undocumented',
  checkPreconditions: checkNamespacePreconditions,
  markAsDeleting(namespace) {
    namespace.status = { ...namespace.status, phase: 'Terminating' };
  },
  isHeld: ({ spec }) => (spec?.finalizers?.length ?? 0) > 0,
  validateName: nameIsDNSLabel,
  prepareForCreate(namespace) {
    namespace.status = { phase: 'Active' };
    const finalizers = ((namespace.spec ??= {}).finalizers ??= []);
    if (!finalizers.includes('kubernetes')) finalizers.push('kubernetes');
  },
  prepareForUpdate(namespace, old) {
    const spec = (namespace.spec ??= {});
    if (old.spec?.finalizers) spec.finalizers = old.spec.finalizers;
    else delete spec.finalizers;
    keepField(namespace, old, 'status');
  },
  validate: validateNamespace,
  validateUpdate: validateNamespaceUpdate,
  canonicalize({ metadata }) {
    labelWithName(metadata, metadata.name ?? '');
  },
};

export default defineResource<Namespace>({
  group: '',
  version: 'v1',
  kind: 'Namespace',
  resource: 'namespaces',
  namespaced: false,
  isNamespace: true,
  shortNames: ['ns'],
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  storageVersionHash: 'Q3oi5N2YM8M=',
  schema: 'core_v1.Namespace',
  storagePath: 'namespaces',
  strategy: namespaceStrategy,
  selectableFields: { 'status.phase': ({ status }) => status?.phase ?? '' },
  unsupportedField: (label) => `field label not supported: ${label}`,
  defaults: defaultNamespace,
  columns: [nameColumn, stringColumn('Status', 'The status of the namespace', ({ status }) => status?.phase ?? ''), ageColumn],
  subresources: {
    finalize: {
      verbs: ['update'],
      strategy: {
        resetFields: [['status']],
        canonicalize: namespaceStrategy.canonicalize!,
        prepareForUpdate(namespace, old) {
          keepField(namespace, old, 'status');
        },
        validateUpdate: validateNamespaceFinalizeUpdate,
      },
    },
    status: statusSubresource({
      strategy: { canonicalize: namespaceStrategy.canonicalize!, validateUpdate: validateNamespaceStatusUpdate },
    }),
  },
});
