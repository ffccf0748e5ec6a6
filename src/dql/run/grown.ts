type Column = Int32Array | Float64Array;

/** A column with room for so many, and what stood in it: twice as long, so that it seldom has to grow. */
export function grown<T extends Column>(column: T, length: number): T {
  if (length <= column.length) return column;
  const longer = new (column.constructor as new (length: number) => T)(Math.max(length, column.length * 2));
  longer.set(column as ArrayLike<number>);
  return longer;
}
