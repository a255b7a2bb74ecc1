import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { booleanColumn, describe, stringColumn } from '#kubernetes/apis/columns';
import { validateVolumeAttachment, validateVolumeAttachmentUpdate } from '#kubernetes/apis/storage/validation/volume-attachment';
import { statusSubresource, withoutStatus } from '#kubernetes/apis/strategy';
import type { VolumeAttachment } from '#kubernetes/schema/storage_v1.gen';
import { defaultVolumeAttachment } from './defaults.ts';

export default defineResource<VolumeAttachment>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'VolumeAttachment',
  resource: 'volumeattachments',
  namespaced: false,
  storageVersionHash: 'tJx/ezt6UDU=',
  schema: 'storage_v1.VolumeAttachment',
  storagePath: 'volumeattachments',
  defaults: defaultVolumeAttachment,
  strategy: withoutStatus({
    returnsDeletedObject: true,
    allowUnconditionalUpdate: false,
    validate: validateVolumeAttachment,
    genericMeta: 'update',
    validateUpdate: validateVolumeAttachmentUpdate,
  }),
  columns: [
    nameColumn,
    stringColumn('Attacher', describe('storage_v1.VolumeAttachmentSpec', 'attacher'), ({ spec }) => spec?.attacher ?? '', {
      format: 'name',
    }),
    stringColumn(
      'PV',
      describe('storage_v1.VolumeAttachmentSource', 'persistentVolumeName'),
      ({ spec }) => spec?.source?.persistentVolumeName ?? '',
    ),
    stringColumn('Node', describe('storage_v1.VolumeAttachmentSpec', 'nodeName'), ({ spec }) => spec?.nodeName ?? ''),
    booleanColumn('Attached', describe('storage_v1.VolumeAttachmentStatus', 'attached'), ({ status }) => status?.attached ?? false),
    ageColumn,
  ],
  subresources: {
    status: statusSubresource({
      metadata: 'keep',
      strategy: { allowUnconditionalUpdate: false, validateUpdate: validateVolumeAttachmentUpdate },
    }),
  },
});
