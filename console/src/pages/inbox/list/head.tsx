import {
  ActionIcon,
  CloseButton,
  Group,
  Input,
  InputBase,
  Kbd,
  SegmentedControl,
  Stack,
  TextInput,
  Title,
  Tooltip,
} from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconKeyboard, IconSearch, IconSelector, IconTag, IconUserPlus } from '@tabler/icons-react'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useMay } from '../../../session/session.js'
import { useTags } from '../../../shared/use-tags.js'
import { type InboxFilter, VIEWS, type View } from './fits.js'

const TagFilter = lazy(() => import('./tag-filter.js'))

/** Delay in ms after typing before the search starts. */
const TYPING_MS = 250
/** The element id of the search input, for the shortcut. */
export const SEARCH_ID = 'inbox-search'

interface HeadProps {
  filter: InboxFilter
  onFilter: (changes: Partial<InboxFilter>) => void
  onNew: () => void
  /** Called on arrow down in the search: moves the focus into the list. */
  onDown: () => void
  /** Opens the help for shortcuts. Null on phones. */
  onShortcuts: (() => void) | null
}

/** The top of the list: filters, search and new contact. */
export function Head({ filter, onFilter, onNew, onDown, onShortcuts }: HeadProps) {
  const { t } = useTranslation('inbox')
  const mayWrite = useMay('agent')
  return (
    <Stack gap="xs" p="md" pb="xs">
      <Group justify="space-between" wrap="nowrap">
        <Title order={1} size="h3">
          {t('title')}
        </Title>
        <Group gap={4} wrap="nowrap">
          {onShortcuts && (
            <Tooltip label={t('shortcuts.open')}>
              <ActionIcon
                variant="subtle"
                color="gray"
                size="lg"
                onClick={onShortcuts}
                aria-label={t('shortcuts.open')}
              >
                <IconKeyboard size={20} stroke={1.6} aria-hidden />
              </ActionIcon>
            </Tooltip>
          )}
          {mayWrite && (
            <Tooltip label={t('new.open')}>
              <ActionIcon variant="light" size="lg" onClick={onNew} aria-label={t('new.open')}>
                <IconUserPlus size={20} stroke={1.6} aria-hidden />
              </ActionIcon>
            </Tooltip>
          )}
        </Group>
      </Group>
      <Search
        search={filter.search}
        onSearch={(search) => onFilter({ search })}
        onDown={onDown}
        hasKey={onShortcuts !== null}
      />
      <Views view={filter.view} onView={(view) => onFilter({ view })} />
      <Tags tag={filter.tag} onTag={(tag) => onFilter({ tag })} />
    </Stack>
  )
}

/** After a click the focus returns to where it was, so that the keys work as before. */
function Views({ view, onView }: { view: View; onView: (view: View) => void }) {
  const { t } = useTranslation('inbox')
  const before = useRef<Element | null>(null)
  const giveBack = () => {
    const { activeElement } = document
    // A label is clicked first, and then its button, which has the focus.
    if (before.current === null || !(activeElement instanceof HTMLInputElement)) return
    activeElement.blur()
    if (before.current instanceof HTMLElement) before.current.focus({ preventScroll: true })
    before.current = null
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: only looks at the clicks of the buttons inside
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard keeps the focus
    <div
      onPointerDownCapture={() => {
        before.current = document.activeElement
      }}
      onClick={giveBack}
    >
      <SegmentedControl
        size="xs"
        fullWidth
        aria-label={t('views.label')}
        value={view}
        onChange={(chosen) => onView(chosen as View)}
        data={VIEWS.map((value) => ({ value, label: t(`views.${value}`) }))}
      />
    </div>
  )
}

interface SearchProps {
  search: string
  onSearch: (search: string) => void
  onDown: () => void
  hasKey: boolean
}

function Search({ search, onSearch, onDown, hasKey }: SearchProps) {
  const { t } = useTranslation('inbox')
  const [typed, setTyped] = useState(search)
  const applied = useRef(search)
  const apply = useDebouncedCallback((words: string) => {
    applied.current = words
    onSearch(words)
  }, TYPING_MS)
  // The search in the URL changed by other means, such as the back button.
  useEffect(() => {
    if (search === applied.current) return
    applied.current = search
    setTyped(search)
  }, [search])
  const type = (words: string) => {
    setTyped(words)
    apply(words)
  }
  return (
    <TextInput
      id={SEARCH_ID}
      type="search"
      value={typed}
      onChange={(event) => type(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'ArrowDown') {
          event.preventDefault()
          onDown()
        }
        if (event.key !== 'Escape') return
        if (typed === '') event.currentTarget.blur()
        type('')
      }}
      placeholder={t('search')}
      aria-label={t('search')}
      leftSection={<IconSearch size={16} aria-hidden />}
      rightSection={
        typed !== '' ? (
          <CloseButton size="sm" aria-label={t('clearSearch')} onClick={() => type('')} />
        ) : (
          hasKey && (
            <Kbd size="xs" aria-hidden>
              /
            </Kbd>
          )
        )
      }
    />
  )
}

function Tags({ tag, onTag }: { tag: string; onTag: (tag: string) => void }) {
  const { t } = useTranslation('inbox')
  const known = useTags().map((one) => one.tag)
  const [isAsked, setAsked] = useState(false)
  if (known.length === 0 && tag === '') return null
  const resting = (
    <InputBase
      component="button"
      type="button"
      pointer
      size="xs"
      leftSection={<IconTag size={14} aria-hidden />}
      rightSection={<IconSelector size={14} aria-hidden />}
      rightSectionPointerEvents="none"
      aria-haspopup="listbox"
      onClick={() => setAsked(true)}
    >
      {tag || <Input.Placeholder>{t('anyTag')}</Input.Placeholder>}
    </InputBase>
  )
  // Tags are loaded on demand.
  if (!isAsked && tag === '') return resting
  return (
    <Suspense fallback={resting}>
      <TagFilter tag={tag} known={known} onTag={onTag} isAsked={isAsked} />
    </Suspense>
  )
}
