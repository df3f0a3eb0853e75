import { Menu as Base } from "@base-ui/react/menu";
import { clsx } from "clsx";
import { Ellipsis } from "lucide-react";
import { type ComponentType, Fragment } from "react";
import { IconButton } from "./Button";

export type MenuItem = {
  label: string;
  icon: ComponentType<{ size?: number; "aria-hidden"?: boolean }>;
  isDanger?: boolean;
  run: () => void;
};

/** What else can be done, behind three dots. Groups are parted by a line. */
export function Menu({
  label,
  groups,
  className,
}: {
  label: string;
  groups: readonly (readonly MenuItem[])[];
  className?: string;
}) {
  return (
    <Base.Root>
      <Base.Trigger render={<IconButton label={label} {...(className && { className })} />}>
        <Ellipsis size={16} aria-hidden />
      </Base.Trigger>
      {/* Inside of the landmark that its button is in: nothing on a page is outside of all of them. */}
      <Base.Portal container={document.querySelector("main")}>
        <Base.Positioner sideOffset={4} align="end" className="z-50">
          <Base.Popup className="min-w-44 rounded-md border border-line bg-surface p-1 shadow-xl outline-none">
            {groups.map((items, index) => (
              <Fragment key={items.map((item) => item.label).join()}>
                {index > 0 && <Base.Separator className="my-1 h-px bg-line" />}
                {items.map((item) => (
                  <Item key={item.label} item={item} />
                ))}
              </Fragment>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

function Item({ item: { label, icon: Icon, isDanger, run } }: { item: MenuItem }) {
  return (
    <Base.Item
      onClick={run}
      className={clsx(
        "flex h-7 cursor-pointer items-center gap-2 rounded-sm px-2 outline-none pointer-coarse:h-9 data-highlighted:bg-raised",
        isDanger && "text-bad",
      )}
    >
      <Icon size={14} aria-hidden /> {label}
    </Base.Item>
  );
}
