import { ActionIcon, Group, Text, TextInput, Tooltip } from '@mantine/core'
import { IconPencil } from '@tabler/icons-react'
import { type ReactNode, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'

interface EditableProps {
  /** Name of the field. */
  field: string
  value: string | null
  /** Null if the member may not change it. */
  onSave: ((value: string | null) => void) | null
  maxLength: number
  /** Returns what is wrong with a value. Null: nothing. */
  check?: (typed: string) => string | null
  /** Further actions. */
  children?: ReactNode
}

/** A text that becomes an input on click. Enter or blur saves the value, Escape does not. */
export function Editable({ field, value, onSave, maxLength, check, children }: EditableProps) {
  const { t } = useTranslation('inbox')
  const [typed, setTyped] = useState<string | null>(null)
  const pencil = useRef<HTMLButtonElement>(null)
  const wrong = typed?.trim() ? (check?.(typed.trim()) ?? null) : null
  const close = (isByKey: boolean) => {
    setTyped(null)
    // The edit button exists again after the next render.
    if (isByKey) requestAnimationFrame(() => pencil.current?.focus())
  }
  const save = (isByKey: boolean) => {
    if (typed === null || wrong !== null) return
    const next = typed.trim() || null
    if (next !== value) onSave?.(next)
    close(isByKey)
  }
  if (typed !== null) {
    return (
      <TextInput
        size="xs"
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        onBlur={() => (wrong === null ? save(false) : close(false))}
        onKeyDown={(event) => {
          if (event.key === 'Enter') save(true)
          if (event.key !== 'Escape') return
          event.stopPropagation()
          close(true)
        }}
        error={wrong}
        maxLength={maxLength}
        aria-label={field}
        autoFocus
      />
    )
  }
  return (
    <Group gap={2} wrap="nowrap">
      <Text size="sm" truncate c={value === null ? 'dimmed' : undefined} mr={4}>
        {value ?? t('panel.empty')}
      </Text>
      {children}
      {onSave && (
        <Tooltip label={t('panel.edit', { field })}>
          <ActionIcon
            ref={pencil}
            variant="subtle"
            color="gray"
            size="sm"
            onClick={() => setTyped(value ?? '')}
            aria-label={t('panel.edit', { field })}
          >
            <IconPencil size={14} aria-hidden />
          </ActionIcon>
        </Tooltip>
      )}
    </Group>
  )
}
