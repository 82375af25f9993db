// Aligns the cells of a table into columns, as kubectl prints them.

/** @example alignColumns([['NAME', 'READY'], ['orders', 'True']]) // 'NAME     READY\norders   True' */
export const alignColumns = (rows: readonly (readonly string[])[]): string => {
  const widths = (rows[0] ?? []).map((_cell, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  )
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('   ')
        .trimEnd(),
    )
    .join('\n')
}
