import { Inject, Injectable } from '@nestjs/common';
import type { KubeObject } from '#apimachinery/meta/types';
import { LoopbackClient } from '#apiserver/server/loopback-client';
import { Log } from '#cmd/logging/log';
import { noteLegacyTokenUse } from '#kubernetes/controlplane/legacy-token-tracking';

/**
 * Labels the secrets of service accounts whose tokens clients use. A failure to label a secret is logged and does not affect the request.
 */
@Injectable()
export class LegacyTokenUse {
  constructor(
    @Inject(LoopbackClient) private readonly client: LoopbackClient,
    @Inject(Log) private readonly log: Log,
  ) {}

  readonly note = (secret: KubeObject): void => {
    noteLegacyTokenUse(this.client, secret, new Date()).catch((error: unknown) =>
      this.log.error({ reason: error instanceof Error ? error.message : String(error) }, 'cannot label a service account token secret'),
    );
  };
}
