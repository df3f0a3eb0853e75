import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen, waitFor } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { Send } from "@/features/bots/messages/Send";
import { held, serve } from "./server";

test("what was typed while a letter was sent is kept, and what was sent is not", async () => {
  const { reply, answer } = held();
  serve({ "POST /api/v1/messages": reply });
  render(
    <QueryClientProvider client={new QueryClient()}>
      <Send slug="iris" name="Iris" />
    </QueryClientProvider>,
  );
  const field = screen.getByLabelText("Write to Iris");
  await userEvent.type(field, "Hello{Control>}{Enter}{/Control} again");
  answer({ status: 201, data: { message: { id: "m1" } } });
  await waitFor(() => expect(screen.getByRole("button", { name: /Send/ })).toBeEnabled());
  expect(field).toHaveValue("Hello again");

  serve({ "POST /api/v1/messages": { status: 201, data: { message: { id: "m2" } } } });
  await userEvent.type(field, "{Control>}{Enter}{/Control}");
  await waitFor(() => expect(field).toHaveValue(""));
});
