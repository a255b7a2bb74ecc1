import type { Container } from 'kubenest/types/core_v1';

/** Program of a well-known image. It runs until it is stopped, and changes no files. */
export interface ImageProgram {
  /** Files of the image by absolute path, as far as they are simulated. */
  readonly files: Readonly<Record<string, string>>;
  /** Folder whose files the program serves by HTTP; undefined if it serves none. */
  readonly documentRoot?: string;
  /** True for a program that only waits, also in Jobs. */
  readonly isIdle?: true;
}

interface KnownImage {
  readonly image: RegExp;
  /** First word of the command line that selects the program; undefined if the image runs without one. */
  readonly argument?: string;
  readonly program: ImageProgram;
}

const page = (title: string): string =>
  `<!DOCTYPE html>\n<html>\n<head>\n<title>${title}</title>\n</head>\n<body>\n<h1>${title}</h1>\n</body>\n</html>\n`;
const certificate = '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n';

const agnhost = /(^|\/)agnhost([:@]|$)/;

const knownImages: readonly KnownImage[] = [
  { image: /(^|\/)pause([:@]|$)/, program: { files: {}, isIdle: true } },
  {
    image: /(^|\/)nginx([:@]|$)/,
    program: {
      documentRoot: '/usr/share/nginx/html',
      files: { '/usr/share/nginx/html/index.html': page('Welcome to nginx!'), '/usr/share/nginx/html/50x.html': page('Error') },
    },
  },
  {
    image: /(^|\/)httpd([:@]|$)/,
    program: {
      documentRoot: '/usr/local/apache2/htdocs',
      files: { '/usr/local/apache2/htdocs/index.html': '<html><body><h1>It works!</h1></body></html>\n' },
    },
  },
  // The image of Kubernetes' own tests. Upstream: kubernetes/test/images/agnhost.
  { image: agnhost, argument: 'pause', program: { files: {}, isIdle: true } },
  ...['netexec', 'serve-hostname', 'porter', 'nettest', 'webhook'].map((argument) => ({
    image: agnhost,
    argument,
    program: { files: {} },
  })),
  {
    image: agnhost,
    argument: 'test-webserver',
    program: { documentRoot: '/', files: { '/localhost.crt': certificate, '/localhost.key': '' } },
  },
];

/** Returns the program of a container whose image is well known; undefined for others, and if the container has another command. */
export function imageProgramOf({ image = '', command = [], args = [] }: Container): ImageProgram | undefined {
  if (command.length > 0) return undefined;
  return knownImages.find((one) => one.image.test(image) && one.argument === args[0])?.program;
}
