import { clsx } from "clsx";
import { Ellipsis } from "lucide-react";
import {
  type ComponentType,
  type CSSProperties,
  Fragment,
  type KeyboardEvent,
  useEffect,
  useRef,
  useState,
} from "react";
import { IconButton } from "./Button";

export type MenuItem = {
  label: string;
  icon: ComponentType<{ size?: number; "aria-hidden"?: boolean }>;
  isDanger?: boolean;
  run: () => void;
};

type Props = { label: string; groups: readonly (readonly MenuItem[])[]; className?: string };

/** A menu behind three dots. Groups are separated by a line. */
export function Menu({ label, groups, className }: Props) {
  const button = useRef<HTMLButtonElement>(null);
  const [place, setPlace] = useState<CSSProperties | null>(null);
  const close = () => {
    setPlace(null);
    button.current?.focus();
  };
  return (
    <>
      <IconButton
        ref={button}
        label={label}
        aria-haspopup="menu"
        aria-expanded={place !== null}
        {...(className && { className })}
        onClick={({ currentTarget }) => setPlace(place ? null : beside(currentTarget))}
      >
        <Ellipsis size={16} aria-hidden />
      </IconButton>
      {place && (
        <Items
          label={label}
          groups={groups}
          place={place}
          close={close}
          leave={(target) => !button.current?.contains(target) && setPlace(null)}
        />
      )}
    </>
  );
}

const GAP_PX = 4;
const WIDTH_PX = 176;

/** Above or below, left or right of the button, wherever there is more room. */
function beside(element: HTMLElement): CSSProperties {
  const { top, bottom, left, right } = element.getBoundingClientRect();
  return {
    minWidth: WIDTH_PX,
    ...(bottom < window.innerHeight / 2
      ? { top: bottom + GAP_PX }
      : { bottom: window.innerHeight - top + GAP_PX }),
    ...(right > WIDTH_PX ? { right: window.innerWidth - right } : { left }),
  };
}

type ItemsProps = Props & {
  place: CSSProperties;
  /** Close the menu and restore the focus. */
  close: () => void;
  /** Called on a press outside. */
  leave: (target: Node) => void;
};

function Items({ label, groups, place, close, leave }: ItemsProps) {
  const list = useRef<HTMLDivElement>(null);
  const outside = useRef(leave);
  useEffect(() => {
    outside.current = leave;
  });
  useEffect(() => {
    itemsIn(list.current)[0]?.focus();
    const press = ({ target }: PointerEvent) => {
      if (target instanceof Node && !list.current?.contains(target)) outside.current(target);
    };
    document.addEventListener("pointerdown", press);
    return () => document.removeEventListener("pointerdown", press);
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    const items = itemsIn(list.current);
    const at = items.indexOf(document.activeElement as HTMLElement);
    const next = nextOf(event.key, at, items.length);
    if (next !== null) items[next]?.focus();
    else if (event.key === "Escape" || event.key === "Tab") close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      ref={list}
      role="menu"
      tabIndex={-1}
      aria-label={label}
      style={place}
      onKeyDown={onKeyDown}
      className="fixed z-50 rounded-md border border-line bg-surface p-1 shadow-xl outline-none"
    >
      {groups.map((items, index) => (
        <Fragment key={items.map((item) => item.label).join()}>
          {index > 0 && <hr className="my-1 border-line" />}
          {items.map((item) => (
            <Item key={item.label} item={item} close={close} />
          ))}
        </Fragment>
      ))}
    </div>
  );
}

const itemsIn = (list: HTMLElement | null): HTMLElement[] => [
  ...(list?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? []),
];

/** The index that a key leads to among `count` items; null for other keys. */
function nextOf(key: string, at: number, count: number): number | null {
  if (key === "ArrowDown") return (at + 1) % count;
  if (key === "ArrowUp") return (at - 1 + count) % count;
  if (key === "Home") return 0;
  return key === "End" ? count - 1 : null;
}

function Item({ item: { label, icon: Icon, isDanger, run }, close }: { item: MenuItem; close: () => void }) {
  return (
    <button
      type="button"
      role="menuitem"
      tabIndex={-1}
      onPointerMove={({ currentTarget }) => currentTarget.focus()}
      onClick={() => {
        close();
        run();
      }}
      className={clsx(
        "flex h-7 w-full items-center gap-2 rounded-sm px-2 outline-none focus:bg-raised pointer-coarse:h-9",
        isDanger && "text-bad",
      )}
    >
      <Icon size={14} aria-hidden /> {label}
    </button>
  );
}
