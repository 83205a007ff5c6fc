import { useHotkeys } from '@mantine/hooks'

/** What a key does, by the key. */
type Keys<Name extends string> = Partial<Record<Name, () => void>>

/**
 * Keys without a modifier. They only move and show: somebody may be typing without a field having the focus, so such a
 * key must not change anything. Fields for text and elements with keys of their own keep theirs.
 */
export function useMovingKeys(keys: Keys<'j' | 'k' | '/' | 'shift+?'>): void {
  useHotkeys(
    Object.entries(keys).map(([name, move]) => [
      name,
      (event) => {
        if (isElsewhere(event) || isTyped(event)) return
        event.preventDefault()
        move()
      },
      // What is typed must arrive.
      { preventDefault: false },
    ]),
    [],
  )
}

/** Keys with a modifier, which work while writing too. Ctrl+Alt is AltGr on Windows, which writes characters. */
export function useActingKeys(keys: Keys<`alt+${string}`>): void {
  useHotkeys(
    Object.entries(keys).map(([name, act]) => [
      name,
      (event) => {
        if (!isElsewhere(event)) act?.()
      },
      // With Alt a letter's key writes another character on some keyboards.
      { usePhysicalKeys: true },
    ]),
    [],
    true,
  )
}

/** Whether the key was pressed in an element with its own keys: a dialog, a menu, a listbox. */
function isElsewhere({ target }: KeyboardEvent): boolean {
  return target instanceof Element && target.closest('[role="dialog"], [role="menu"], [role="listbox"]') !== null
}

/** Whether the key writes into a field. Radio buttons and the like are inputs too, but nothing is written there. */
function isTyped({ target }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target instanceof HTMLInputElement)
    return !['radio', 'checkbox', 'button', 'submit', 'file'].includes(target.type)
  return target.isContentEditable || target.matches('textarea, select')
}
