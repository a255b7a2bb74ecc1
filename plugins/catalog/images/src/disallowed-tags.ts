import { AdmissionPlugin, type Attributes, Configuration, inject, parseImage, workloads } from 'kubenest/sdk';
import { IsSomeTexts } from '../../common/configuration.ts';
import { denyImages } from '../../common/deny.ts';
import { type Matcher, matcherOf } from '../../common/patterns.ts';

export class DisallowedTagsConfiguration {
  /** Tags that images must not have; an image without tag and digest has the tag `latest`. */
  @IsSomeTexts()
  tags: string[] = ['latest'];
}

/** Denies images with tags that change their content, and images without a tag. An image with a digest may have any tag. */
@AdmissionPlugin({ name: 'DisallowedTags', configuration: DisallowedTagsConfiguration, match: workloads })
export class DisallowedTags {
  readonly #isDisallowed: Matcher;

  constructor(@inject(Configuration) { tags }: DisallowedTagsConfiguration) {
    this.#isDisallowed = matcherOf(tags);
  }

  validate(request: Attributes): void {
    denyImages(request, ({ image }) => {
      const parsed = parseImage(image);
      if (!parsed) return `"${image}" is not an image reference`;
      if (parsed.digest !== undefined || !this.#isDisallowed(parsed.tag ?? '')) return undefined;
      return `"${image}" has the tag ${parsed.tag}, which is not allowed`;
    });
  }
}
