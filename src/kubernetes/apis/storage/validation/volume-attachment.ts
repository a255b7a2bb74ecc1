/** Validation of volume attachments. Upstream: pkg/apis/storage/validation/validation.go. */
import { addErrors, type FieldError, type Path, fieldPath, forbidden, invalid, required, tooLong } from '#apimachinery/validation/field';
import { nameIsDNSSubdomain } from '#apimachinery/validation/names';
import { fieldImmutableError } from '#apimachinery/validation/object-meta';
import { byteLength, check } from '#kubernetes/apis/core/validation/checks';
import { internalValue } from '#kubernetes/apis/core/validation/internal';
import { validateMetaAgain } from '#kubernetes/apis/core/validation/object-meta';
import { validatePersistentVolumeSpec } from '#kubernetes/apis/core/validation/persistent-volume';
import { validateCsiDriverName } from '#kubernetes/apis/core/validation/volume-sources';
import { equalAs } from '#kubernetes/apis/equal-as';
import { structValue } from '#kubernetes/apis/struct-value';
import type { VolumeAttachment, VolumeAttachmentSource, VolumeAttachmentSpec, VolumeError } from '#kubernetes/schema/storage_v1.gen';
import { mapSize } from './parameters.ts';

const specPath = fieldPath('spec');
const statusPath = fieldPath('status');
const noSpec: VolumeAttachmentSpec = {};
const noSource: VolumeAttachmentSource = {};
const maxMetadataSize = 256 * 1024;
const maxMessageSize = 1024;

export function validateVolumeAttachment({ spec = noSpec, status = {} }: VolumeAttachment): FieldError[] {
  const errors: FieldError[] = [];
  const { attacher, source = noSource, nodeName = '' } = spec;
  validateCsiDriverName(errors, attacher, specPath.child('attacher'));
  validateSource(errors, source, specPath.child('source'));
  check(errors, nameIsDNSSubdomain(nodeName, false), nodeName, specPath, 'nodeName');
  if (status.attachmentMetadata && mapSize(status.attachmentMetadata) > maxMetadataSize)
    errors.push(tooLong(statusPath.child('attachmentMetadata'), '', maxMetadataSize));
  if (status.attachError) validateVolumeError(errors, status.attachError, statusPath.child('attachError'));
  if (status.detachError) validateVolumeError(errors, status.detachError, statusPath.child('detachError'));
  const name = source.persistentVolumeName;
  if (name !== undefined) check(errors, nameIsDNSSubdomain(name, false), name, fieldPath('spec.source.persistentVolumeName'));
  return errors;
}

export function validateVolumeAttachmentUpdate(attachment: VolumeAttachment, old: VolumeAttachment): FieldError[] {
  const errors: FieldError[] = [];
  validateMetaAgain(errors, attachment.metadata, nameIsDNSSubdomain, false);
  addErrors(errors, validateVolumeAttachment(attachment));
  if (!equalAs('storage_v1.VolumeAttachmentSpec', attachment.spec, old.spec))
    errors.push(invalid(specPath, specValue(attachment.spec), fieldImmutableError));
  return errors;
}

function validateSource(
  errors: FieldError[],
  { persistentVolumeName: name, inlineVolumeSpec: inline }: VolumeAttachmentSource,
  path: Path,
): void {
  const detail = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
  if (!inline && name === undefined) errors.push(required(path, detail));
  else if (inline && name !== undefined) errors.push(forbidden(path, detail));
  else if (name === '') errors.push(required(path.child('persistentVolumeName'), 'must specify non empty persistentVolumeName'));
  else if (inline) validatePersistentVolumeSpec(errors, inline, '', true, path.child('inlineVolumeSpec'));
}

function validateVolumeError(errors: FieldError[], { message = '', errorCode }: VolumeError, path: Path): void {
  // As upstream, the message shows another limit than the one that is checked.
  if (byteLength(message) > maxMessageSize) errors.push(tooLong(path.child('message'), '', maxMetadataSize));
  if (errorCode !== undefined && errorCode < 0)
    errors.push(invalid(path.child('errorCode'), errorCode, 'must be between 0 and 2147483647, inclusive'));
}

function specValue({ attacher = '', source = noSource, nodeName = '' }: VolumeAttachmentSpec = noSpec): unknown {
  const { persistentVolumeName, inlineVolumeSpec } = source;
  const inline = inlineVolumeSpec && internalValue('PersistentVolumeSpec', inlineVolumeSpec);
  return structValue({
    Attacher: attacher,
    Source: { PersistentVolumeName: persistentVolumeName, InlineVolumeSpec: inline },
    NodeName: nodeName,
  });
}
