import {
  AdmissionPlugin,
  type Attributes,
  changedPodTemplate,
  Configuration,
  deny,
  imagesOf,
  inject,
  parseImage,
  workloads,
} from 'kubenest/sdk';
import { IsTexts } from '../../common/configuration.ts';
import { type Matcher, matcherOf } from '../../common/patterns.ts';

export class RequireImagePullSecretsConfiguration {
  /** Repositories that need no secret: `docker.io/library/*`. */
  @IsTexts()
  publicRepositories: string[] = [];
}

/** Denies pods without `imagePullSecrets` if an image is not in a public repository. */
@AdmissionPlugin({ name: 'RequireImagePullSecrets', configuration: RequireImagePullSecretsConfiguration, match: workloads })
export class RequireImagePullSecrets {
  readonly #isPublic: Matcher;

  constructor(@inject(Configuration) { publicRepositories }: RequireImagePullSecretsConfiguration) {
    this.#isPublic = matcherOf(publicRepositories);
  }

  validate(request: Attributes): void {
    const template = changedPodTemplate(request);
    if (!template || (template.spec.imagePullSecrets ?? []).length > 0) return;
    const isPublic = imagesOf(template).every(({ image }) => this.#isPublic(parseImage(image)?.name ?? ''));
    if (!isPublic) deny(request, `${template.path}.imagePullSecrets: required for images of private repositories`);
  }
}
