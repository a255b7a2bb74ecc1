// A plugin of TypeDoc: documents are named by their heading, and grouped by their folder in docs/.
import { basename, dirname } from 'node:path';
import { Converter } from 'typedoc';

const groups = { guide: 'Guide', reference: 'Reference', internals: 'Internals', results: 'Results', adr: 'Decisions' };

export function load(app) {
  app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_, document) => {
    const [, heading] = /^# (.+)$/m.exec(document.content.map(({ text }) => text).join('')) ?? [];
    const file = document.project.files.getReflectionPath(document);
    if (heading === undefined) app.logger.error(`${document.name} has no heading`);
    else document.name = heading.replaceAll('`', '');
    document.frontmatter.group = groups[basename(dirname(file))];
  });
}
