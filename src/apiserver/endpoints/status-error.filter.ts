import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import { StatusError } from '#apimachinery/api/errors';

/** A response of Express, as far as the filter uses it. */
interface JsonResponse {
  status(code: number): JsonResponse;
  json(body: object): void;
}

/** Answers a StatusError of a Nest controller, its guards and interceptors with the Status, as endpoints of resources do. */
@Catch(StatusError)
export class StatusErrorFilter implements ExceptionFilter<StatusError> {
  catch({ status }: StatusError, host: ArgumentsHost): void {
    host
      .switchToHttp()
      .getResponse<JsonResponse>()
      .status(status.code ?? 500)
      .json(status);
  }
}
