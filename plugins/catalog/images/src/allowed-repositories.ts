import { AdmissionPlugin, type Attributes, Configuration, inject, parseImage, workloads } from 'kubenest/sdk';
import { IsTexts } from '../../common/configuration.ts';
import { denyImages } from '../../common/deny.ts';
import { type Matcher, matcherOf } from '../../common/patterns.ts';

export class AllowedRepositoriesConfiguration {
  /** Registries and repositories, in full: `ghcr.io/acme/*`, `docker.io/library/nginx`. */
  @IsTexts()
  allowed: string[] = ['*'];
  /** Exceptions from `allowed`. */
  @IsTexts()
  disallowed: string[] = [];
}

/** Denies images of other repositories than the allowed ones. Short names are those of Docker Hub: `nginx` is `docker.io/library/nginx`. */
@AdmissionPlugin({ name: 'AllowedRepositories', configuration: AllowedRepositoriesConfiguration, match: workloads })
export class AllowedRepositories {
  readonly #isAllowed: Matcher;
  readonly #isDisallowed: Matcher;

  constructor(@inject(Configuration) { allowed, disallowed }: AllowedRepositoriesConfiguration) {
    this.#isAllowed = matcherOf(allowed);
    this.#isDisallowed = matcherOf(disallowed);
  }

  validate(request: Attributes): void {
    denyImages(request, ({ image }) => {
      const parsed = parseImage(image);
      if (!parsed) return `"${image}" is not an image reference`;
      if (this.#isAllowed(parsed.name) && !this.#isDisallowed(parsed.name)) return undefined;
      return `repository ${parsed.name} is not allowed`;
    });
  }
}
