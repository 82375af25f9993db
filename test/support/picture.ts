// Draws a terminal as SVG: what `svc` prints of a document with a mistake, and of a request that lacks credentials. The
// texts are those of real runs.

import { join } from 'node:path'
import { svc } from '../cli/run-svc.ts'
import { textOf } from './pages.ts'

export const PICTURE_PATH = join(import.meta.dirname, '../../docs/terminal.svg')

const COLUMNS = 108
const LINE_PX = 19
const CHARACTER_PX = 8.1

interface Line {
  readonly text: string
  readonly kind: 'typed' | 'printed' | 'bad'
}

/** @example writeFileSync(PICTURE_PATH, await drawPicture()) */
export const drawPicture = async (): Promise<string> => {
  const first = /```yaml\n(.*?)```/s.exec(textOf('README.md'))?.[1] ?? ''
  const mistake = await svc(['validate', '-', 'examples/realm.yaml'], {
    stdin: first.replace('type: static', 'type: statik'),
  })
  const url = 'http://127.0.0.1:18080/guarded/for-managers'
  const explained = await svc(['explain', 'GET', url, 'examples/'])
  const [checks = ''] = explained.stdout.split('\n\nthe operation')
  return draw([
    typed('svc validate first.yaml realm.yaml'),
    ...printed(mistake.stdout.replace('<stdin>', 'first.yaml')),
    ...printed(mistake.stderr),
    { text: '', kind: 'printed' },
    typed(`svc explain GET ${url} examples/`),
    ...printed(checks),
    ...printed(explained.stdout.slice(explained.stdout.lastIndexOf('\nresult') + 1)),
  ])
}

const typed = (command: string): Line => ({ text: `$ ${command}`, kind: 'typed' })

const printed = (text: string): readonly Line[] =>
  text
    .trimEnd()
    .split('\n')
    .flatMap((line) => {
      const kind = /unsupported_|FAILS|^result/.test(line) ? 'bad' : 'printed'
      return wrapped(line).map((each) => ({ text: each, kind }) as const)
    })

const wrapped = (line: string): readonly string[] =>
  line.length <= COLUMNS
    ? [line]
    : [line.slice(0, COLUMNS), ...wrapped(`    ${line.slice(COLUMNS).trimStart()}`)]

const draw = (lines: readonly Line[]): string => {
  const [width, height] = [Math.ceil(COLUMNS * CHARACTER_PX) + 40, lines.length * LINE_PX + 40]
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="A terminal with svc validate and svc explain">`,
    '<style>text{font:13.5px ui-monospace,Menlo,Consolas,monospace;fill:#d0d7de;white-space:pre}.typed{fill:#7ee787}.bad{fill:#ffa198}</style>',
    `<rect width="${width}" height="${height}" rx="8" fill="#161b22"/>`,
    ...lines.map(
      ({ text, kind }, at) =>
        `<text class="${kind}" x="20" y="${34 + at * LINE_PX}" xml:space="preserve">${escaped(text)}</text>`,
    ),
    '</svg>',
    '',
  ].join('\n')
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
