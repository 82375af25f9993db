// Prints routes as a table for a terminal, one line for each.

import type { RouteRow } from '../../language/explain/list-routes.ts'
import { plainText } from '../../operator/fleet/client/plain-text.ts'

/** A route, and where its document has it: a place in a file, or the id of the document. */
export interface PlacedRoute {
  readonly row: RouteRow
  readonly at: string
}

const HEADINGS = ['METHODS', 'HOST', 'PATH', 'VERSION', 'ACTION', 'SECURITY', 'REALM', 'AT']
const MOST_WIDTH = 60
const MAX_CELL = 300

/** @example routesText([{ row, at: 'users.yaml:12:5' }]) */
export const routesText = (routes: readonly PlacedRoute[]): string => {
  const rows = [HEADINGS, ...routes.map(cellsOf)]
  const widths = HEADINGS.map((_, column) => widthOf(rows, column))
  return rows.map((cells) => `${lineOf(cells, widths)}\n`).join('')
}

const widthOf = (rows: readonly (readonly string[])[], column: number): number =>
  rows.reduce(
    (width, cells) => Math.min(MOST_WIDTH, Math.max(width, cells[column]?.length ?? 0)),
    0,
  )

const cellsOf = ({ row, at }: PlacedRoute): readonly string[] =>
  [
    row.methods.join(','),
    row.host,
    row.path,
    row.active ? row.version : `${row.version} (inactive)`,
    row.action,
    row.security,
    row.realm,
    at,
  ].map((cell) => plainText(cell, MAX_CELL) || '-')

const lineOf = (cells: readonly string[], widths: readonly number[]): string =>
  cells
    .map((cell, column) => cell.padEnd(widths[column] ?? 0))
    .join('  ')
    .trimEnd()
