import { AdmissionPlugin, type Attributes, Configuration, inject } from 'kubenest/sdk';
import type { PersistentVolumeClaim } from 'kubenest/types/core_v1';
import { IsSomeTexts } from '../../common/configuration.ts';
import { denyFor } from '../../common/deny.ts';
import { type Matcher, matcherOf } from '../../common/patterns.ts';

export class AllowedStorageClassesConfiguration {
  /** Names of classes; an empty class of a claim, which selects volumes without a class, is never allowed. */
  @IsSomeTexts()
  allowed: string[] = [];
}

type Claim = Pick<PersistentVolumeClaim, 'spec' | 'metadata'>;

/** Denies claims of other storage classes, in claims and in the templates of stateful sets. */
@AdmissionPlugin({
  name: 'AllowedStorageClasses',
  configuration: AllowedStorageClassesConfiguration,
  match: [
    // The subresource `status` can change the annotation of the class.
    { groups: [''], resources: ['persistentvolumeclaims'], subresources: ['', 'status'], operations: ['CREATE', 'UPDATE'] },
    { groups: ['apps'], resources: ['statefulsets'], operations: ['CREATE', 'UPDATE'] },
  ],
})
export class AllowedStorageClasses {
  readonly #isAllowed: Matcher;

  constructor(@inject(Configuration) { allowed }: AllowedStorageClassesConfiguration) {
    this.#isAllowed = matcherOf(allowed);
  }

  validate(request: Attributes): void {
    const before = new Set(claimsOf(request.oldObject).flatMap(classesOf));
    const names = claimsOf(request.object)
      .flatMap(classesOf)
      // The default class of the cluster replaces an absent one in claims only.
      .filter((name) => !(name === undefined && request.resource.resource === 'statefulsets'))
      .filter((name) => !before.has(name) && !(name && this.#isAllowed(name)));
    denyFor(
      request,
      names.map((name) => (name ? `storage class ${name} is not allowed` : 'a storage class is required')),
    );
  }
}

/** Annotation that is older than `spec.storageClassName`; controllers prefer it. */
const classAnnotation = 'volume.beta.kubernetes.io/storage-class';

function classesOf({ metadata, spec }: Claim): (string | undefined)[] {
  const annotated = metadata?.annotations?.[classAnnotation];
  return annotated === undefined ? [spec?.storageClassName] : [spec?.storageClassName, annotated];
}

function claimsOf(object: Attributes['oldObject']): readonly Claim[] {
  if (object?.kind === 'PersistentVolumeClaim') return [object as Claim];
  return (object?.['spec'] as { readonly volumeClaimTemplates?: readonly Claim[] } | undefined)?.volumeClaimTemplates ?? [];
}
