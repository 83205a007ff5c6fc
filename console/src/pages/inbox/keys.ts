/** Whether a key was pressed in something that has keys of its own: a dialog, a menu, a list of choices. */
export function isElsewhere({ target }: KeyboardEvent): boolean {
  return target instanceof Element && target.closest('[role="dialog"], [role="menu"], [role="listbox"]') !== null
}
