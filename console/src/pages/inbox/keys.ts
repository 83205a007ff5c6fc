/** Whether the key was pressed in an element with its own keys: a dialog, a menu, a listbox. */
export function isElsewhere({ target }: KeyboardEvent): boolean {
  return target instanceof Element && target.closest('[role="dialog"], [role="menu"], [role="listbox"]') !== null
}
